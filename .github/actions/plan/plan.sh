# Plans in a directory of its own, which has the base branch with the templates of the pull request. Nothing is read or
# written in the checkout, which may be that of the pull request.
set -euo pipefail

place=$(mktemp -d "$RUNNER_TEMP/dns-template-sync.XXXXXX")
umask 022
files=$place/files
plan=$place/plan.md
base=refs/dns-template-sync/base
request=refs/dns-template-sync/request
read -r config _ <<<"$SETTINGS" || true

# What a commit has at these paths, or all of it, in place of what is there: regular files, and no links.
take() {
  commit=$1 target=$files/$2
  shift 2
  for path; do rm -rf "${target:?}/$path"; done
  mkdir -p "$target"
  GIT_WORK_TREE=$target GIT_INDEX_FILE=$GIT_DIR/files.index GIT_LFS_SKIP_SMUDGE=1
  export GIT_WORK_TREE GIT_INDEX_FILE GIT_LFS_SKIP_SMUDGE
  git read-tree "$commit"
  git ls-files -z -- "$@" | git checkout-index -z --stdin
  find "$target" ! -type d ! -type f -delete
}

fetch() {
  git fetch --quiet --depth=1 --no-tags --no-recurse-submodules origin "+$1:refs/dns-template-sync/$2"
}

# The pull request as it will be merged. GitHub begins with that merge when the pull request changes.
fetch_request() {
  tries=10
  until fetch "refs/pull/$NUMBER/merge" request && git cat-file commit "$request" | grep -q "^parent $HEAD"; do
    if [ $((tries -= 1)) = 0 ]; then
      echo '::error::GitHub has no merge of this pull request: does it conflict with its base branch?'
      exit 1
    fi
    sleep 3
  done
}

# The program, with nothing of the job but the files above and the tokens.
sync() {
  local given=() token file
  for token in $TOKENS; do
    case $token in
      *=*)
        file=$place/${token%%=*}
        printenv "${token%%=*}" >"$file"
        given+=(-v "$file:${token#*=}:ro")
        ;;
      *) given+=(-e "$token") ;;
    esac
  done
  if [ -n "$config" ]; then set -- "$@" --config "$config"; else set -- "$@" --no-config; fi
  docker run --rm --read-only -v "$files:/repository:ro" -w /repository/work "${given[@]}" "$IMAGE" "$@"
}

make_plan() {
  # Marks the lines with errors, for which the plan fails.
  sync validate --format github || true
  code=0
  set --
  # The first templates come with a pull request.
  if [ -n "$NUMBER" ] && [ -n "$(ls "$files/base")" ]; then set -- --base ../base; fi
  sync plan "$@" --detailed-exitcode --format markdown >"$plan" || code=$?
  case $code in 0 | 2) ;; *) code=1 ;; esac
}

GIT_DIR=$(git rev-parse --absolute-git-dir)
export GIT_DIR
if [ -z "$NUMBER" ]; then
  take HEAD work
else
  fetch "refs/heads/$GITHUB_BASE_REF" base
  fetch_request
  # Without quotes: they are lists.
  take "$base" base $TEMPLATES
  take "$base" work
  take "$request" work $TEMPLATES
  [ -z "$SETTINGS" ] || take "$base" work $SETTINGS
fi
if [ -n "$NUMBER" ] && [ -n "$config" ] && [ ! -e "$files/work/$config" ] &&
  git cat-file -e "$request:$config"; then
  code=
  printf '### dns-template-sync: no plan\n\nThis pull request adds the settings, `%s`. %s\n' "$config" \
    'Plans use those of the base branch, so they begin after the merge.' >"$plan"
else
  make_plan
fi
echo "code=$code" >>"$GITHUB_OUTPUT"
if [ -s "$plan" ]; then
  echo "plan=$plan" >>"$GITHUB_OUTPUT"
  cat "$plan" >>"$GITHUB_STEP_SUMMARY"
fi
[ "$code" != 1 ]
