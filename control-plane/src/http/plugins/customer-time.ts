import type { FastifyRequest } from 'fastify'
import {
  findClockOf,
  type CustomerNames,
  type FoundClock,
} from '@tollgate/domain/test-clocks/find-clock-of'
import { hasTestClocks } from '@tollgate/domain/test-clocks/customer-time'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf } from '../../access/caller.ts'
import { read, type ReadParts } from '../../access/read.ts'
import type { RequestClock } from '../../access/request-clock.ts'
import { refusals } from '../../errors.ts'

export type CustomerTimeParts = ReadParts & { readonly requestClock: RequestClock }

/**
 * Serves requests about a customer on a test clock at the time of that customer. While the clock advances, changes are refused: they
 * would be dated before work that is done already. Limit checks are served, as usage is recorded.
 *
 * Requests of live keys, and requests that name no customer, are served without a query.
 */
export function installCustomerTime(app: ApiServer, parts: CustomerTimeParts): void {
  app.addHook('preHandler', (request, _reply, done) => {
    const caller = callerOf(request)
    const names = hasTestClocks(caller.environment) ? customerNamesOf(request) : undefined
    if (names === undefined) return done()
    read(parts, caller, (sql) => findClockOf(sql, caller.providerId, names)).then((clock) => {
      if (clock === undefined) return done()
      if (isRefused(request, clock)) return done(refusals.testClockAdvancing(clock.reference))
      parts.requestClock.runAt(clock.timeReached, done)
    }, done)
  })
}

function isRefused({ method, routeOptions }: FastifyRequest, { status }: FoundClock): boolean {
  if (status !== 'advancing' || method === 'GET' || method === 'HEAD') return false
  const { scope } = routeOptions.config
  return scope === undefined || (scope !== 'ingest' && scope !== 'read')
}

/**
 * Requests about sign-ins are served at real time, also for customers on clocks. Applications and links expire in real time, and all
 * customers of a provider's sandbox share its signing keys.
 */
const realTimePath = '/v1/customer/auth/'

/** The fields of paths, queries and bodies that name a customer, on every route on which they have that meaning. */
const fields: Readonly<Record<string, keyof CustomerNames>> = {
  customerRef: 'customer',
  purchaseRef: 'purchase',
  invoiceRef: 'invoice',
  sessionId: 'session',
  paymentIntentRef: 'payment',
  processorPaymentId: 'payment',
  testClock: 'testClock',
}

/** The fields that name a customer on the routes of customers. */
const fieldsOfCustomers: Readonly<Record<string, keyof CustomerNames>> = {
  ...fields,
  reference: 'customer',
  externalRef: 'customer',
  email: 'email',
}

function customerNamesOf(request: FastifyRequest): CustomerNames | undefined {
  const { url = '' } = request.routeOptions
  if (url.startsWith(realTimePath)) return undefined
  const isOfCustomers = /\/customers(\/|$)/.test(url)
  const known = isOfCustomers ? fieldsOfCustomers : fields
  const names: Partial<Record<keyof CustomerNames, string>> = {}
  // The path names the object of the request. A body may name others.
  for (const part of [request.body, request.query, request.params]) {
    if (typeof part !== 'object' || part === null) continue
    for (const [field, value] of Object.entries(part)) {
      const kind = known[field]
      if (kind !== undefined && typeof value === 'string') names[kind] = value
    }
  }
  return Object.keys(names).length === 0 ? undefined : names
}
