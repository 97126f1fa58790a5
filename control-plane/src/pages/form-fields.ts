import type { FastifyRequest } from 'fastify'

/** Returns the fields of a form as text. A field that was sent several times is left out. */
export function formFields(request: FastifyRequest): Readonly<Record<string, string>> {
  const { body } = request
  if (typeof body !== 'object' || body === null) return {}
  const fields = Object.entries(body).filter(([, value]) => typeof value === 'string')
  return Object.fromEntries(fields)
}
