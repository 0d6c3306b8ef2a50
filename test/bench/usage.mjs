import { readFileSync } from 'node:fs';

/** What the system knows of a process: its parent, and processor seconds of its own and of its ended children. */
export const statOf = (pid) => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [utime, stime, cutime, cstime] = fields.slice(11, 15).map(Number);
  return { parent: fields[1], own: (utime + stime) / 100, ofEnded: (cutime + cstime) / 100 };
};

/** Processor seconds, and memory of its own in MiB. */
export const usageOf = (pid) => {
  const [, memory] = /^Pss: +(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'));
  return { cpu: statOf(pid).own, memory: Number(memory) / 1_024 };
};

/** The most memory that it ever held, in MiB, and the MiB that it had written to the disk. */
export const totalsOf = (pid) => {
  const [, peak] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  const [, bytes] = /^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'));
  return { peak: Number(peak) / 1_024, written: Number(bytes) / 2 ** 20 };
};
