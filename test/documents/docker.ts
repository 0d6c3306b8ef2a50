import { chmod, readFile } from 'node:fs/promises';
import path from 'node:path';
import { built } from '../built.ts';
import { writeBelow } from '../daemon/ways.ts';

/**
 * Puts a `docker` into `bin` of a directory, for where there is no engine: it runs the built program in place of the
 * image, in a directory that stands for the image's root, with nothing but the variables and mounts that it is given.
 * It knows the options that the documents use, refuses others, and follows what the Dockerfile says of the image.
 * A container with a name is known to `exec` after it has ended.
 */
export const standInForDocker = async (directory: string): Promise<void> => {
  const dockerfile = await readFile('Dockerfile', 'utf8');
  const instructions = dockerfile.split(/^FROM /m).at(-1) ?? '';
  const argumentsOf = (name: string): string[] =>
    [...instructions.matchAll(new RegExp(String.raw`^${name} (.+)$`, 'gm'))].map(([, text = '']) => text);
  const [entryPoint = '', command = ''] = [...argumentsOf('ENTRYPOINT'), ...argumentsOf('CMD')];
  if (!entryPoint.endsWith('"/app/dist/main.js"]')) throw new Error(`another entry point: ${entryPoint}`);
  const [, program = ''] = /^\["(\w+)"\]$/.exec(command) ?? [];
  const [, inPath = ''] = /ln -s \/app\/dist\/main\.js \/usr\/local\/bin\/(\S+)/.exec(instructions) ?? [];
  const variables = argumentsOf('ENV').flatMap((text) =>
    text.split(' ').filter((one) => !one.startsWith('PATH=')),
  );
  const copied = argumentsOf('COPY')
    .filter((text) => text.includes(' /app/'))
    .map((text) => path.basename(text.split(' ').at(-2) ?? ''));
  await writeBelow(
    directory,
    'bin/docker',
    `#!/bin/bash
refuse() { echo "docker: $*" >&2; exit 125; }
root=$(mktemp -d -p "${directory}" root.XXXXXX)
passed=()
pass() { case $2 in /*) passed+=("$1=$root$2") ;; *) passed+=("$1=$2") ;; esac; }
for variable in ${variables.join(' ')}; do pass "\${variable%%=*}" "\${variable#*=}"; done
work=/ entry=
case $1 in
  build)
    shift
    while [ $# -gt 1 ]; do
      case $1 in
        --build-arg) grep -q "^ARG \${2%%=*}=" Dockerfile || refuse "no such argument: $2"; shift 2 ;;
        -t) shift 2 ;;
        *) refuse "build $1" ;;
      esac
    done
    [ -f "$1/Dockerfile" ] || refuse "no Dockerfile in $1"
    exit ;;
  create | rm | stop) exit ;;
  cp)
    [ "\${2#*:}" = /app ] || refuse "cp $2"
    mkdir -p "$3" && cd "${process.cwd()}" && ln -s "\${PWD}"/{${copied.join(',')}} "$3/"
    exit ;;
  exec)
    [ "$2" = "$(cat container)" ] || refuse "no container $2"
    [ "$3" = "${inPath}" ] || refuse "$3 is not in the PATH"
    shift 3
    cd "$(cat container.root)" && mapfile -d '' passed <"$OLDPWD/container.env"
    exec env -i PATH="$PATH" HOME="$PWD" DNS_SYNC_SETTLE=0s "\${passed[@]}" "${process.execPath}" "${built('main.js')}" "$@" ;;
  run) shift ;;
  *) refuse "$1" ;;
esac
while [ $# -gt 0 ]; do
  case $1 in
    -e)
      name=\${2%%=*}; value=\${2#*=}
      case $2 in *=*) ;; *) value=\${!2} ;; esac
      pass "$name" "$value"; shift 2 ;;
    -v)
      IFS=: read -r from to how <<<"$2"
      case $from in /*) [ -e "$from" ] || refuse "nothing at $from" ;; *) from="$root.$from"; mkdir -p "$from" ;; esac
      case $how in '' | ro) ;; *) refuse "-v $2" ;; esac
      # A place of the test is there for the program as it is.
      case $to in "${directory}"/*) target=$to ;; *) target=$root$to ;; esac
      mkdir -p "$(dirname "$target")" && ln -sfn "$from" "$target"; shift 2 ;;
    -w) work=$2; shift 2 ;;
    --entrypoint) entry=$2; shift 2 ;;
    --name) echo "$2" >container; shift 2 ;;
    --restart | --cap-drop | --security-opt) shift 2 ;;
    -d | --init | --rm | --read-only) shift ;;
    -*) refuse "run $1" ;;
    *) break ;;
  esac
done
if [ -n "$entry" ]; then
  shift
  for one; do [ ! -d "$root$one" ] || one=$root$one; set -- "$@" "$one"; shift; done
  exec "$entry" "$@"
fi
[ $# -gt 1 ] || set -- "$1" ${program}
shift
if [ -f container ]; then echo "$root" >container.root; printf '%s\\0' "\${passed[@]}" >container.env; fi
mkdir -p "$root$work" && cd "$root$work" || exit
exec env -i PATH="$PATH" HOME="$root" DNS_SYNC_SETTLE=0s "\${passed[@]}" \\
  "${process.execPath}" "${built('main.js')}" "$@"
`,
  );
  await chmod(path.join(directory, 'bin/docker'), 0o755);
};
