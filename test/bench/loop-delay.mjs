// Loaded before the program, which has a channel to its parent: watches the event loop from one message to the next.
import { monitorEventLoopDelay } from 'node:perf_hooks';

const resolution = 5;
const histogram = monitorEventLoopDelay({ resolution });
const milliseconds = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - resolution);
process.on('message', (word) => {
  if (word === 'begin') histogram.enable();
  else {
    histogram.disable();
    process.send({ p99: milliseconds(histogram.percentile(99)), longest: milliseconds(histogram.max) });
  }
});
process.channel.unref();
