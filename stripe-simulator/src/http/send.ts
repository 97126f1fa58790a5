import type { FastifyReply } from 'fastify'
import type { Answer } from '../answer.ts'
import { simulatorOrigin } from '../objects/present.ts'
import type { PageAnswer } from '../pages/intent-pages.ts'

/** URL at which the server listens. Links to the simulator in objects begin with it. */
export type Origin = { readonly origin: () => string }

export function sendJson({ origin }: Origin, reply: FastifyReply, answer: Answer): FastifyReply {
  const text = JSON.stringify(answer.body).replaceAll(simulatorOrigin, origin())
  // Sent as bytes, because Fastify adds a charset to JSON text, which Stripe does not send.
  return reply.code(answer.status).type('application/json').send(Buffer.from(text))
}

export function sendPage(reply: FastifyReply, answer: PageAnswer): FastifyReply {
  if (answer.kind === 'redirect') return reply.code(303).header('location', answer.url).send()
  return reply
    .code(answer.status)
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
    })
    .send(answer.html)
}
