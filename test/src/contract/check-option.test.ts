import { NEVER, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  adaptiveConcurrency,
  adaptiveGate,
  chainJob,
  createBudget,
  createClient,
  createGotTransport,
  createJobIds,
  createLanes,
  createWebhookReceiver,
  pollExponential,
  pollFixed,
  pollLearned,
  mergeJobs,
  openGate,
  publishedGate,
  pullJobs,
  rateGate,
  retryPurchase,
  saveWith,
  switchJobs,
  untilAborted,
  withinBudget,
  withinLane,
} from '../../../src/index.js';
import { clientOver } from '../../support/client-over.js';

const { client, sent } = clientOver();
const echo = client.queue('echo');
const routes = client.routes('https://lb.example');
const budget = createBudget(1);
const lanes = createLanes({ slots: 1 });
const one = { concurrency: 1 };
const receiver = { secret: 'a secret of thirty-two characters', url: 'https://hooks.example' };

const noNumbers = ['5', null, true, {}, [], Number.NaN, () => 1];
const noFunctions = ['x', null, 5, {}, of(1)];
const noTexts = [null, 5, true, {}, []];
const noSignals = ['x', null, 5, {}, new Date()];
const noSchemas = ['x', null, 5, {}, () => true];
const noObjects = [null, 5, 'x'];
const misspelt = { concurrencY: 1 };

/** An option of a call, the values that it must not have, and the call with such a value. */
const wrong: [option: string, values: readonly unknown[], call: (value: never) => unknown][] = [
  ['capUsd', [...noNumbers, -1], (value) => createBudget(value)],
  ['priceUsd', [...noNumbers, -1], (value) => withinBudget(budget, value)],
  ['budget', [null, 5, {}, { reserve: () => true }], (value) => withinBudget(value, 1)],
  [
    'source',
    ['rows.csv', null, 5, {}, of(1), Promise.resolve([1])],
    (rows) => pullJobs(rows, () => NEVER, one),
  ],
  ['project', noFunctions, (value) => pullJobs([1], value, one)],
  ['project', noFunctions, (value) => mergeJobs(value, one)],
  ['project', noFunctions, (value) => switchJobs(value)],
  ['project', noFunctions, (value) => chainJob(value)],
  ['concurrency', [...noNumbers, -1, 0.5], (concurrency) => pullJobs([1], () => NEVER, { concurrency })],
  ['replay', [...noNumbers, -1], (replay) => pullJobs([1], () => NEVER, { ...one, replay })],
  ['concurrencY', [1], () => pullJobs([1], () => NEVER, { ...one, ...misspelt })],
  ['concurrencY', [1], () => mergeJobs(() => NEVER, { ...one, ...misspelt })],
  ['options', noObjects, (value) => pullJobs([1], () => NEVER, value)],
  ['options', noObjects, (value) => createClient(value)],
  ['options', noObjects, (value) => client.queue('echo', value)],
  ['options', noObjects, (value) => client.routes('https://lb.example', value)],
  ['options', noObjects, (value) => echo.run({}, value)],
  ['options', noObjects, (value) => echo.runSync({}, value)],
  ['options', noObjects, (value) => echo.attach('a-job', value)],
  ['options', noObjects, (value) => echo.retry('a-job', value)],
  ['options', noObjects, (value) => echo.stream('a-job', value)],
  ['options', noObjects, (value) => echo.status('a-job', value)],
  ['options', noObjects, (value) => echo.watchHealth(value)],
  ['options', noObjects, (value) => routes.get('/a', value)],
  ['options', noObjects, (value) => routes.post('/a', {}, value)],
  ['options', noObjects, (value) => openGate(value)],
  ['options', noObjects, (value) => rateGate(5, value)],
  ['options', noObjects, (value) => publishedGate(undefined, value)],
  ['options', noObjects, (value) => adaptiveGate(value)],
  ['options', noObjects, (value) => createWebhookReceiver(value)],
  ['options', noObjects, (value) => createGotTransport(value)],
  ['rates', [null, 5, {}], (value) => publishedGate(value)],
  ['concurrencY', [1], () => openGate(misspelt as never)],
  ['maxBuffered', [...noNumbers, -1], (maxBuffered) => mergeJobs(() => NEVER, { ...one, maxBuffered })],
  ['save', noFunctions, (value) => saveWith(value)],
  ['make', noFunctions, (value) => retryPurchase(value, { maxRetries: 1, codes: [] })],
  [
    'maxRetries',
    [...noNumbers, -1],
    (maxRetries) => retryPurchase(() => echo.run({}), { maxRetries, codes: [] }),
  ],
  [
    'codes',
    [null, 5, 'job-failed', {}, ['job-faild'], new Set(['job-failed'])],
    (codes) => retryPurchase(() => echo.run({}), { maxRetries: 1, codes }),
  ],
  ['slots', [...noNumbers, 0, 1.5], (slots) => createLanes({ slots })],
  ['weights.a', [...noNumbers, 0, Infinity], (a) => createLanes({ slots: 1, weights: { a } })],
  ['lanes', [null, 5, {}], (value) => withinLane(value, 'a')],
  ['lane', noTexts, (value) => withinLane(lanes, value)],
  ['signal', noSignals, (value) => untilAborted(value)],
  ['signal', noSignals, (signal) => echo.run({}, { signal })],
  ['signal', noSignals, (signal) => echo.stream('a', { signal })],
  ['signal', noSignals, (signal) => routes.get('a', { signal })],
  ['deadlineMs', [...noNumbers, -1], (deadlineMs) => echo.run({}, { deadlineMs })],
  ['deadlineMs', [...noNumbers, -1], (deadlineMs) => echo.stream('a', { deadlineMs })],
  ['checkpoint', noFunctions, (checkpoint) => echo.run({}, { checkpoint })],
  ['key', noTexts, (key) => echo.run({}, { key })],
  ['secrets', [null, 5, 'x', {}, [5]], (secrets) => echo.run({}, { secrets })],
  ['variant', noTexts, (variant) => echo.run({}, { variant })],
  ['policy', [null, 5, 'x'], (policy) => echo.run({}, { policy })],
  ['webhook', [null, 5, {}], (webhook) => echo.run({}, { webhook })],
  ['submittedAt', noNumbers, (submittedAt) => echo.attach('a', { submittedAt })],
  ['job', [null, 5, {}], (value) => echo.stream(value)],
  ['everyMs', [...noNumbers, 0], (everyMs) => echo.watchHealth({ everyMs })],
  ['endpoint id', noTexts, (value) => client.queue(value)],
  ['input', noSchemas, (input) => client.queue('echo', { input })],
  ['output', noSchemas, (output) => client.queue('echo', { output })],
  ['output', noSchemas, (output) => routes.get('a', { output })],
  ['route', noTexts, (value) => routes.get(value)],
  ['lbBaseUrl', noTexts, (value) => client.routes(value)],
  ['pollFixed(ms)', [...noNumbers, 0], (value) => pollFixed(value)],
  ['pollExponential.factor', [...noNumbers, 0.5], (factor) => pollExponential({ factor })],
  ['firstMs', [1], (firstMs) => pollExponential({ firstMs } as never)],
  ['msPerCall', [...noNumbers, -1], (msPerCall) => pollLearned({ msPerCall })],
  ['ratePerSecond', [...noNumbers, 0], (value) => rateGate(value)],
  ['max', [...noNumbers, -1], (max) => adaptiveConcurrency({ max })],
  ['limit', [...noNumbers, -1], (value) => createJobIds(value)],
  ['secret', [...noTexts, 'short'], (secret) => createWebhookReceiver({ ...receiver, secret })],
  ['url', noTexts, (url) => createWebhookReceiver({ ...receiver, url })],
  ['run', noTexts, (run) => createWebhookReceiver({ ...receiver, run })],
  ['hmac', noFunctions, (hmac) => createWebhookReceiver({ ...receiver, hmac })],
  ['orphan', noFunctions, (orphan) => createWebhookReceiver({ ...receiver, orphan })],
];

describe('an option of a wrong value throws InvalidOptionError at once, before anything is sent', () => {
  it.each(wrong)('%s', (option, values, call) => {
    for (const value of values)
      expect(() => call(value as never)).toThrow(
        expect.objectContaining({ name: 'InvalidOptionError', option }),
      );
    expect(sent).toStrictEqual([]);
  });

  it('and says what it was given, a text in quotes', () => {
    expect(() => createBudget('5' as never)).toThrow('capUsd: is not a number from 0 on (got "5")');
    expect(() => createBudget(null as never)).toThrow('capUsd: is not a number from 0 on (got null)');
    expect(() => saveWith(of(1) as never)).toThrow('save: is not a function (got object)');
    expect(() => pullJobs([1], () => NEVER, { ...one, ...misspelt })).toThrow(
      'concurrencY: is not an option of pullJobs: concurrency, onError, replay',
    );
  });
});
