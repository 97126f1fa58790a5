import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { knownNamesOf, type KnownNames } from '@tollgate/schemas/http/known-names'
import {
  findUnknownNames,
  isStrictHeader,
  strictHeader,
  unknownCodeOf,
  unknownNameIssues,
  unknownNamesMax,
  warningsHeader,
  warningsText,
  type UnknownName,
} from '@tollgate/schemas/http/unknown-names'
import type { UnknownNames } from '../../metrics.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { InvalidRequestError } from '../../errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Refuses names that the operation does not define, also for requests that are not strict. For operations whose answer would be
     * wrong without the misspelled parameter, such as a filter.
     */
    readonly refusesUnknownNames?: true
  }
}

/**
 * Adds a warning header for names that an operation does not define and ignores. A strict request is refused instead. Hosted pages
 * and webhooks of the payment processor are excluded, because API clients do not use them.
 */
export function installUnknownNames(app: ApiServer, counter: UnknownNames): void {
  const unknown = new WeakMap<FastifyRequest, readonly UnknownName[]>()
  // Read the names before validation, which replaces the body by the fields that the schema defines.
  app.addHook('preValidation', (request, reply, done) => {
    const names = unknownNamesIn(request)
    if (names.length > 0) {
      void reply.header(warningsHeader, warningsText(names))
      if (isStrict(request)) unknown.set(request, names)
      else for (const { kind } of names) counter.inc({ kind, outcome: 'warned' })
    }
    done()
  })
  app.addHook('preHandler', (request, _reply, done) => {
    const names = unknown.get(request)
    if (names === undefined) return done()
    for (const { kind } of names) counter.inc({ kind, outcome: 'refused' })
    done(new InvalidRequestError(unknownNameIssues(names), unknownCodeOf(names)))
  })
}

function isStrict({ headers, credential, routeOptions }: FastifyRequest): boolean {
  if (routeOptions.config.refusesUnknownNames === true) return true
  const strictText = headers[strictHeader]
  if (typeof strictText === 'string' && isStrictHeader(strictText)) return true
  return credential?.kind === 'key' && credential.key.isStrict
}

const noNames: readonly UnknownName[] = []

function unknownNamesIn({ routeOptions, query, body }: FastifyRequest): readonly UnknownName[] {
  if (!/^\/(v1|ui)\//.test(routeOptions.url ?? '')) return noNames
  const parts = knownPartsOf(routeOptions)
  const fields = parts.body === undefined ? noNames : findUnknownNames('field', parts.body, body)
  const parameters =
    parts.query === undefined ? noNames : findUnknownNames('parameter', parts.query, query)
  if (parameters.length === 0) return fields
  return [...fields, ...parameters].slice(0, unknownNamesMax)
}

type KnownParts = { readonly body: KnownNames | undefined; readonly query: KnownNames | undefined }

const partsByConfig = new WeakMap<object, KnownParts>()

function knownPartsOf({ schema, config }: FastifyRequest['routeOptions']): KnownParts {
  let parts = partsByConfig.get(config)
  if (parts === undefined) {
    const { body, querystring = z.object({}) } = schema ?? {}
    parts = {
      body: body === undefined ? undefined : knownNamesOf(body as z.ZodType),
      query: knownNamesOf(querystring as z.ZodType),
    }
    partsByConfig.set(config, parts)
  }
  return parts
}
