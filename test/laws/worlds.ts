import { parseWorlds, plainWorld, type SmallWorld } from './small-world.ts';

/*
 * Small worlds in the notation of scenarios. Each step ends with a pass, of a command where it is one or an option of one;
 * `file` says what the file says from now on, in lines that `&` joins; `somebody` adds (+), removes (-) or changes (~) a
 * record. Parts of one step are joined by a comma.
 */

const written = parseWorlds(`
a template is suspended, forced and resumed
  is: calm
  open: it is paused
  file: www A 192.0.2.1
  steps: pass | suspend one | file www A 192.0.2.2 | --force | resume
a template is suspended by its name at the service
  is: calm
  open: it is paused
  file: id: 1 | template: template-1 | www A 192.0.2.1
  steps: pass | suspend one | file www A 192.0.2.2 | resume
a template is suspended by the name that its file had
  is: calm
  open: it is paused
  file: id: 1 | template: template-1 | www A 192.0.2.1
  steps: pass | suspend template-1 | file template: one | file www A 192.0.2.2 | resume
a template is suspended meanwhile
  is: suspended meanwhile
  open: it is suspended
  file: www A 192.0.2.1
  steps: pass | file www A 192.0.2.2 & ftp A 192.0.2.3
a template is suspended meanwhile, and resumed, park
  is: suspended meanwhile
  open: it is suspended
  file: surplus: park | www CNAME web.example.org | ftp A 192.0.2.1
  steps: pass | file www A 192.0.2.2 & ftp A 192.0.2.3 | resume
a record
  is: core
  file: www A 192.0.2.1
  steps: pass | pass
two records
  file: www A 192.0.2.1 | @ MX 10 mx.example.net
  steps: pass | pass
a text edited
  file: @ TXT one
  steps: pass | file @ TXT two | pass
a text edited, park
  file: surplus: park | @ TXT one
  steps: pass | file @ TXT two | pass
a CNAME becomes an A, park
  is: core
  file: surplus: park | www CNAME web.example.org
  steps: pass | file www A 192.0.2.1 | pass
an A becomes a CNAME and an A again, park
  file: surplus: park | www A 192.0.2.1
  steps: pass | file www CNAME web.example.org | file www A 192.0.2.1
a record renamed to where another was
  file: surplus: park | www A 192.0.2.1 | ftp A 192.0.2.2
  steps: pass | file ftp A 192.0.2.1 | file ftp CNAME web.example.org
a dropped record parked and used again
  file: surplus: park | www A 192.0.2.1
  steps: pass | file nothing | file ftp A 192.0.2.3
a record put to use, then park given up
  file: surplus: park | adopt: true | @ TXT one
  service: @ TXT old
  steps: pass | file surplus: report | pass
somebody makes another record what was added
  file: @ A 192.0.2.9
  service: @ A 192.0.2.9 | ftp A 192.0.2.2
  steps
    pass
    file @ A 192.0.2.9 & www A 192.0.2.1
    somebody ~ ftp A 192.0.2.2 -> www A 192.0.2.1
    file @ A 192.0.2.9 & www A 192.0.2.1 & mail A 192.0.2.3
mail given up
  file: surplus: park | @ MX 10 mx1.example.net | @ MX 20 mx2.example.net
  steps: pass | file @ MX 0 . | pass
mode edits
  file: mode: edits | www A 192.0.2.1
  service: www A 192.0.2.1
  steps: pass | file www A 192.0.2.2 | file www A 192.0.2.1
mode edits, and somebody
  open: somebody’s change stays
  file: mode: edits | www A 192.0.2.1
  service: www A 192.0.2.1
  steps: pass | somebody ~ www A 192.0.2.1 -> www A 192.0.2.9 | file www A 192.0.2.1 & ftp A 192.0.2.1
somebody removes it
  is: core
  file: www A 192.0.2.1 | ftp A 192.0.2.2
  service: www A 192.0.2.1 | ftp A 192.0.2.2
  steps: pass | somebody - www A 192.0.2.1 | pass
somebody removes it twice, retry
  open: a third time only at a person’s request
  file: www A 192.0.2.1
  steps: pass | somebody - www A 192.0.2.1 | somebody - www A 192.0.2.1 | --retry
somebody adds the same
  file: www A 192.0.2.1
  steps: pass | somebody + www A 192.0.2.1 | pass
somebody changes it, and the file, too
  file: www A 192.0.2.1
  steps: pass | somebody ~ www A 192.0.2.1 -> www A 192.0.2.9 | file www A 192.0.2.3
one makes way, and another one waits for somebody’s CNAME, park
  open: a CNAME beside another record
  file: surplus: park | www A 192.0.2.2
  service: www A 192.0.2.2 | ftp CNAME web.example.net
  steps: pass | file www CNAME web.example.org & ftp A 192.0.2.3 | pass
one makes way for an update, and another one waits for somebody’s CNAME, park
  open: a CNAME beside another record
  file: surplus: park | www MX 10 a.example.net | www MX 20 b.example.net
  service: www MX 10 a.example.net | www MX 20 b.example.net | ftp CNAME web.example.net
  steps: pass | file www MX 0 . & ftp MX 10 c.example.net | pass
a record makes way for a type that the service refuses, and listings are behind, park
  open: the service refuses it
  file: surplus: park | www A 192.0.2.1
  service: www A 192.0.2.1
  nature: refusesType CNAME | ownLag 300000
  steps: pass | file www CNAME web.example.net | pass
a type that the service refuses
  open: the service refuses it
  file: www AAAA 2001:db8::1 | ftp A 192.0.2.2
  nature: refusesType AAAA
  steps: pass | pass | apply
a name is frozen, since the service refuses what the file wants there, park
  open: the service refuses it
  file: surplus: park | www A 192.0.2.1 | ftp A 192.0.2.2
  nature: refusesType CNAME
  steps: pass | file mail A 192.0.2.1 & www CNAME web.example.org & ftp A 192.0.2.3 | file ftp A 192.0.2.3
a CNAME of somebody’s
  open: a CNAME beside another record
  file: ftp A 192.0.2.2
  steps: pass | somebody + www CNAME web.example.org | file ftp A 192.0.2.2 & www A 192.0.2.1
first contact
  is: core
  open: no name of the file is at the service
  file: www A 192.0.2.1
  service: ftp A 192.0.2.2
  steps: pass | --force | pass
adopted
  file: surplus: park | adopt: true | www A 192.0.2.1
  service: ftp A 192.0.2.2
  steps: pass | pass
most is lost
  file: maxChangePercent: 30 | www A 192.0.2.1 | ftp A 192.0.2.2 | @ A 192.0.2.3
  service: www A 192.0.2.1 | ftp A 192.0.2.2 | @ A 192.0.2.3
  steps: pass | somebody - www A 192.0.2.1 | somebody - ftp A 192.0.2.2 | --accept-loss
the state is lost
  file: www A 192.0.2.1
  steps: pass | the state is lost | pass
an older state
  file: www A 192.0.2.1
  steps: pass | an older state | pass
another token of an unknown client
  file: www A 192.0.2.1
  steps: pass | another token | pass
two templates within one limit
  open: more adds than allowed
  file: www A 192.0.2.1
  beside: ftp A 192.0.2.2
  most adds: 1
  steps: pass | pass
a CNAME becomes an A, park, beside a template that is read twice
  file: surplus: park | www CNAME web.example.org
  beside: ftp A 192.0.2.2
  steps: pass | file www A 192.0.2.1, somebody in two ~ ftp A 192.0.2.2 -> ftp A 192.0.2.9 | pass
two templates above their limit
  open: more adds than allowed
  file: www A 192.0.2.1 | ftp A 192.0.2.2
  beside: ftp A 192.0.2.2
  most adds: 2
  steps: pass | file www A 192.0.2.1 | --force
mode report
  open: nothing is written
  file: mode: report | www A 192.0.2.1
  service: ftp A 192.0.2.2
  steps: pass | file www A 192.0.2.2 | --force
an ignored record stands at the name
  open: a CNAME beside another record
  file: surplus: park | adopt: true | ignore: usual | ftp A 192.0.2.2
  service: www A 192.0.2.4
  steps: pass | file www CNAME web.example.org | pass
texts of two kinds
  file: @ TXT v=spf1 -all | @ TXT token=one
  service: @ TXT token=two
  steps: pass | file @ TXT v=spf1 mx -all & @ TXT token=one | file @ TXT token=one
a record added, retry at once
  file: www A 192.0.2.1
  steps: pass | --retry | pass
names get an ending
  open: the service stores something else
  file: www A 192.0.2.1
  nature: ending .##DOMAIN##
  steps: pass | file www A 192.0.2.2 | pass
a record renamed, then a CNAME instead of it, park
  open: a CNAME beside another record
  file: surplus: park | www A 192.0.2.1
  steps: pass | file ftp A 192.0.2.1 | file ftp CNAME web.example.org | pass
two records swap their types, and again, park
  file: surplus: park | www A 192.0.2.1 | ftp CNAME web.example.org
  steps
    pass
    file ftp A 192.0.2.1 & www CNAME web.example.org
    file www A 192.0.2.1 & ftp CNAME web.example.org
two records of two types whose names somebody swaps, park
  file: surplus: park | www A 192.0.2.1 | ftp CNAME web.example.org
  service: www A 192.0.2.1 | ftp CNAME web.example.org
  steps: pass | pass | somebody swaps www ftp | pass
one of a type beside somebody’s, park
  file: surplus: park | www A 192.0.2.1
  service: ftp CNAME theirs.example.org | www A 192.0.2.1
  steps: pass | file www A 192.0.2.1 & api CNAME web.example.org, somebody + zoo A 192.0.2.9 | pass
mail given up and taken again, park
  file: surplus: park | www MX 10 mx.example.net | www MX 20 mx2.example.net
  steps: pass | file www MX 0 . | file www MX 10 mx.example.net
a record that somebody renames, and a CNAME instead of it
  open: a CNAME beside another record
  file: www A 192.0.2.1
  steps: pass | somebody ~ www A 192.0.2.1 -> api A 192.0.2.1 | file www CNAME web.example.org | pass
a record renamed there and back, park
  file: surplus: park | www A 192.0.2.1
  steps: pass | file ftp A 192.0.2.1 | file www A 192.0.2.1 | pass
a value changed there and back, and another one beside it
  file: www 60 A 192.0.2.1
  steps
    pass
    file www 300 A 192.0.2.2
    file www 60 A 192.0.2.1
    file www 60 A 192.0.2.1 & www 300 A 192.0.2.3
the nameless get a name, and are edited, park
  open: the service stores something else
  file: surplus: park | @ MX 10 mx.example.net
  nature: namesNameless true
  steps: pass | file @ MX 20 mx.example.net | file @ MX 10 mx.example.net | pass
the nameless get a name
  open: the service stores something else
  file: @ A 192.0.2.1
  nature: namesNameless true
  steps: pass | file @ A 192.0.2.2 | pass
TTLs are clamped
  open: the service stores something else
  file: www 60 A 192.0.2.1
  nature: leastTtl 300
  steps: pass | file www 120 A 192.0.2.1 | pass
duplicates are refused
  file: www A 192.0.2.1
  nature: rejectsDuplicates true
  steps: pass | file www A 192.0.2.2 | pass
contents are ignored
  open: the service stores something else
  file: www A 192.0.2.1
  nature: ignores content
  steps: pass | file www A 192.0.2.2 | pass
answers are short
  file: adopt: true | www A 192.0.2.1
  service: ftp A 192.0.2.2
  nature: answersShort true
  steps: pass | pass
listings are cut
  open: listings lack what answers show
  file: adopt: true | www A 192.0.2.1 | ftp A 192.0.2.2
  service: @ A 192.0.2.9 | www A 192.0.2.1 | ftp A 192.0.2.2
  nature: listed 1 | isKind false
  steps: pass | pass | file mail A 192.0.2.3 | apply
listings show no record
  open: listings lack what answers show
  file: www A 192.0.2.1 | ftp A 192.0.2.2
  service: www A 192.0.2.1 | ftp A 192.0.2.2
  nature: listed 0 | isKind false
  steps: pass | pass | file mail A 192.0.2.3 | apply
listings show no record, and a subdomain does
  file: subdomains: one.example.net | www A 192.0.2.1
  service: www A 192.0.2.1
  nature: listed 0 | isKind false
  steps: pass | pass
the panel writes placeholders
  open: a record may be it in another spelling
  file: @ A 192.0.2.1 | www A 192.0.2.2 | ftp A 192.0.2.3
  service: @ A 192.0.2.1 | www.##DOMAIN## A 192.0.2.9 | ftp.example.org A 192.0.2.8
  steps: pass | pass | apply
a name with a placeholder in the panel is added to the file
  open: a record may be it in another spelling
  file: @ A 192.0.2.1
  service: @ A 192.0.2.1 | www.##DOMAIN## A 192.0.2.9
  steps: pass | file @ A 192.0.2.1 & www A 192.0.2.2 | pass
an edit shortly after somebody’s
  open: no name of the file is at the service
  file: www A 192.0.2.1
  seconds between: 3
  steps: pass | somebody + ftp A 192.0.2.9 | the clock jumps | file www A 192.0.2.2
an add after an older state
  open: an older state does not show how often it was added
  file: www A 192.0.2.1
  steps: pass | file www A 192.0.2.1 & ftp A 192.0.2.2 | an older state | pass
an older state, and names get an ending
  open: the service stores something else
  file: @ A 192.0.2.9
  nature: ending .##DOMAIN##
  steps: pass | file @ A 192.0.2.9 & www A 192.0.2.1 | an older state | apply
somebody adds the same, and the file makes it a CNAME, park
  open: somebody’s copy stays
  file: surplus: park | @ A 192.0.2.9
  steps
    pass
    file @ A 192.0.2.9 & www A 192.0.2.1
    somebody + www A 192.0.2.1
    file @ A 192.0.2.9 & www CNAME web.example.org
    pass
somebody adds the same, and removes it, and names get an ending
  open: the service stores something else
  file: @ A 192.0.2.9
  nature: ending .
  steps
    pass
    file @ A 192.0.2.9 & www A 192.0.2.1
    somebody + www A 192.0.2.1
    somebody - www A 192.0.2.1
    pass
an older state, and somebody, mode edits
  open: somebody’s change stays
  file: mode: edits | www A 192.0.2.1 | mail A 192.0.2.7
  service: www A 192.0.2.1 | mail A 192.0.2.7
  steps
    pass
    file www A 192.0.2.2 & ftp A 192.0.2.5
    a much older state, somebody ~ www A 192.0.2.2 -> www A 192.0.2.9
    --force
names are ignored, park
  open: the service stores something else
  file: surplus: park | www CNAME web.example.org
  nature: ignores name
  steps: pass | file www A 192.0.2.1 | pass | apply
names are ignored, and a record set has one TTL, park
  open: the service stores something else
  file: surplus: park | @ 300 A 192.0.2.1 | @ 300 A 192.0.2.2
  service: @ 300 A 192.0.2.1 | @ 300 A 192.0.2.2
  nature: ignores name | oneTtlPerSet true
  steps: pass | file @ 300 A 192.0.2.1 & www 60 A 192.0.2.1 | pass
a CNAME becomes an A, park, and names get an ending
  open: the service stores something else
  file: surplus: park | www CNAME web.example.org
  nature: ending .##DOMAIN##
  steps: pass | file www A 192.0.2.1 | pass
a CNAME becomes an A, park, and no add is allowed
  open: more adds than allowed
  file: surplus: park | maxAdds: 0 | www CNAME web.example.org | @ A 192.0.2.9
  service: www CNAME web.example.org | @ A 192.0.2.9
  steps: pass | file www A 192.0.2.1 & @ A 192.0.2.9 | --force | pass
a record leaves a name that an add fills, park, and no add is allowed
  open: more adds than allowed
  file: surplus: park | maxAdds: 0 | www A 192.0.2.1 | @ A 192.0.2.9
  service: www A 192.0.2.1 | @ A 192.0.2.9
  steps: pass | file ftp A 192.0.2.1 & www AAAA 2001:db8::1 & @ A 192.0.2.9 | --force | pass
a CNAME of somebody’s in the way, park, mode edits
  open: a CNAME beside another record
  file: surplus: park | adopt: true | mode: edits | www A 192.0.2.1
  service: www CNAME web.example.org | ftp A 192.0.2.2
  steps: pass | file www A 192.0.2.3 | file mode: enforce
two templates that are both written
  file: www A 192.0.2.1
  beside: ftp A 192.0.2.2 | ftp A 192.0.2.3
  steps: pass | file www A 192.0.2.4 & @ TXT one | pass
a record, then apply
  file: www A 192.0.2.1
  steps: pass | apply | pass
a record, and the clock jumps
  file: www A 192.0.2.1
  steps: pass | the clock jumps | pass
a record, and the clock is set back
  open: a clock that was set back
  file: subdomains: one.example.net | www A 192.0.2.1
  steps: pass | the clock is set back | file www A 192.0.2.2
an MX edited and taken back, with a copy of somebody’s
  file: @ MX 10 mx1.example.net
  steps
    pass
    file @ MX 10 mx2.example.net & @ MX 20 mx3.example.net, somebody + @ MX 10 mx2.example.net
    file @ MX 10 mx1.example.net
an add, then an edit beside it
  file: ftp A 192.0.2.2
  service: ftp A 192.0.2.2
  steps
    pass
    file ftp A 192.0.2.2 & www A 192.0.2.1
    file ftp A 192.0.2.3 & www A 192.0.2.1
    file ftp A 192.0.2.3 & www A 192.0.2.4
one process goes on
  is: calm | one process
  file: @ TXT one
  steps
    pass
    pass
    pass
    somebody ~ @ TXT one -> @ TXT other
    pass
    pass
    the state is lost
    file @ TXT two
one process plans, then writes
  is: calm | one process
  open: a plan writes nothing
  file: www A 192.0.2.1
  service: www A 192.0.2.9
  steps: plan | plan | pass | file www A 192.0.2.2
a record in another spelling that was always there
  is: calm
  open: it may be the one of the file in another spelling
  file: @ A 192.0.2.9
  service: @ A 192.0.2.9 | www. A 192.0.2.7
  seconds between: 400
  steps: pass | file @ A 192.0.2.9 & www A 192.0.2.1 | pass
an A without a name becomes a CNAME, park
  file: surplus: park | @ A 192.0.2.1
  steps: pass | file @ CNAME web.example.org | pass
one desired record becomes another
  is: calm
  open: the service stores something else
  file: www A 192.0.2.1 | www. A 192.0.2.1
  nature: ending .
  steps: pass | pass | apply
a copy of what was just added
  is: calm
  file: @ A 192.0.2.9
  service: @ A 192.0.2.9
  steps
    pass
    file @ A 192.0.2.9 & www A 192.0.2.1
    file @ A 192.0.2.9 & www A 192.0.2.1 & www A 192.0.2.2, somebody + www A 192.0.2.1
`);

interface Form {
  readonly name: string;
  readonly ttl: number;
  readonly data: string;
}

const firstForm: Form = { name: 'www', ttl: 300, data: 'A 192.0.2.1' };

/** Edits of a record; null: the file does not have it. Done twice, an edit has another result. */
const edits: Readonly<Record<string, (form: Form) => Form | null>> = {
  value: (form) => ({ ...form, data: otherValues[form.data] ?? firstForm.data }),
  name: (form) => ({ ...form, name: form.name === 'www' ? 'ftp' : 'mail' }),
  type: (form) => ({ ...form, data: form.data.startsWith('A ') ? 'CNAME web.example.org' : firstForm.data }),
  ttl: (form) => ({ ...form, ttl: 2 * form.ttl }),
  dropped: () => null,
  returned: () => firstForm,
};

const otherValues: Readonly<Record<string, string>> = {
  'A 192.0.2.1': 'A 192.0.2.2',
  'A 192.0.2.2': 'A 192.0.2.3',
  'CNAME web.example.org': 'CNAME cdn.example.org',
};

const lineOf = (form: Form | null): string =>
  form === null ? 'nothing' : `${form.name} ${form.ttl} ${form.data}`;

/** Every two edits that follow each other in one record set: the second is one of what the first has made, or dropped. */
const pairs = Object.entries(edits).flatMap(([one, edit]) =>
  Object.entries(edits).flatMap(([two, then]): SmallWorld[] => {
    if (one === two && (one === 'dropped' || one === 'returned')) return [];
    const edited = edit(firstForm);
    return [
      {
        ...plainWorld,
        name: `${one}, then ${two}`,
        open: [one, two].includes('type') ? 'a CNAME beside another record' : null,
        file: [lineOf(firstForm)],
        steps: [
          'pass',
          ...(one === 'returned' ? ['file nothing'] : []),
          `file ${lineOf(edited)}`,
          `file ${lineOf(then(edited ?? firstForm))}`,
        ],
      },
    ];
  }),
);

export const worlds: readonly SmallWorld[] = [...written, ...pairs];
