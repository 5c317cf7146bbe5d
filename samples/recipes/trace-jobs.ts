import { lastValueFrom } from 'rxjs';
import { createClient, pullJobs } from 'millrace';
import { startEmulator } from 'millrace/emulator';

// A span for each job, its events in it, and its trace handed on to the service. With OpenTelemetry of your own,
// `tracer` is `trace.getTracer('shop')` of @opentelemetry/api; the one here has what is used of it, and prints its spans.
const hex = (length: number) =>
  Array.from({ length }, () => Math.floor(Math.random() * 16).toString(16)).join('');
const tracer = {
  startSpan(name: string, { startTime, attributes: all }: { startTime: number; attributes: object }) {
    const events: string[] = [];
    return {
      spanContext: () => context,
      addEvent: (event: string) => events.push(event),
      setAttributes: (more: object) => Object.assign(all, more),
      end(endTime: number) {
        const took = endTime >= startTime ? 'in order' : 'out of order';
        console.log(name, JSON.stringify(all), `${events.at(0)} to ${events.at(-1)}, ${took}`);
      },
    };
  },
};
const context = { traceId: hex(32), spanId: hex(16), traceFlags: 1 };
const spans = new Map<string, ReturnType<typeof tracer.startSpan>>();

let traced = 0;
const emulator = await startEmulator();
const client = createClient({
  apiKey: emulator.apiKey,
  baseUrl: emulator.baseUrl,
  traceparent: ({ key }) => {
    const span = spans.get(key)?.spanContext();
    traced += Number(span !== undefined);
    return span && `00-${span.traceId}-${span.spanId}-0${span.traceFlags}`;
  },
});
client.activity$.subscribe((event) => {
  const { key, at, endpointId, attempt } = event;
  const start = { startTime: at, attributes: { 'millrace.key': key } };
  const span = spans.get(key) ?? tracer.startSpan(`job ${endpointId}`, start);
  spans.set(key, span);
  span.addEvent(event.type);
  if (event.type !== 'settled') return;
  span.setAttributes({ 'millrace.status': event.outcome.status, 'millrace.attempts': attempt });
  span.end(at);
  spans.delete(key);
});
// Each request as it ended, polls too: status, time, request id.
let requests = 0;
client.requests$.subscribe(
  ({ status, durationMs }) => (requests += Number(status === 200 && durationMs >= 0)),
);

const echo = client.queue('echo');
await lastValueFrom(pullJobs(['a', 'b'], (text) => echo.run({ text }, { key: text }), { concurrency: 1 }));
console.log(
  traced === requests ? 'every request carried its trace' : `${traced} of ${requests} carried a trace`,
);
await emulator.close();
