import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { answeringPlainly } from './answering.js';
import { addBillCall } from './add-bill-call.js';
import { addPictureCalls } from './add-picture-calls.js';
import { addQueueCalls } from '../queue/add-queue-calls.js';
import { addRouteCalls } from './add-route-calls.js';
import { Refusal } from './http-answer.js';
import type { Call, Service } from '../service.js';

/** The server's routing: what needs no key first, then everything else behind the key. */
export function createApp(service: Service): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  addPictureCalls(app, service);
  app.use('*', (call: Call, next) =>
    call.env.incoming.headers.authorization === `Bearer ${service.apiKey}` ? next() : refuseKey(call),
  );
  addQueueCalls(app, service);
  addRouteCalls(app, service);
  addBillCall(app, service);
  app.notFound(refusePath);
  app.onError((error, call: Call) =>
    answeringPlainly(() => {
      throw error;
    })(call),
  );
  return app;
}

const refuseKey = answeringPlainly(() => {
  throw new Refusal(401, 'unauthorized', 'the API key is missing or invalid');
});

const refusePath = answeringPlainly((call) => {
  throw new Refusal(404, 'not found', `there is no ${call.req.method} ${call.req.path}`);
});
