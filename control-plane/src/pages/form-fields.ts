import type { FastifyRequest } from 'fastify'

/** What a form sent: each field once, as text. */
export function formFields(request: FastifyRequest): Readonly<Record<string, string>> {
  const { body } = request
  if (typeof body !== 'object' || body === null) return {}
  const fields = Object.entries(body).filter(([, value]) => typeof value === 'string')
  return Object.fromEntries(fields)
}
