import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { listLastAttempts } from '@tollgate/domain/webhooks/deliveries-repository'
import { findEndpoint, listEndpoints } from '@tollgate/domain/webhooks/endpoints-repository'
import {
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  updateWebhookEndpoint,
  type EndpointWithSecrets,
} from '@tollgate/domain/webhooks/manage-endpoints'
import { promoteNewestSecret, rotateSecret } from '@tollgate/domain/webhooks/rotate-secret'
import { liveSecretsMax } from '@tollgate/domain/webhooks/rotation'
import { listSecrets, listEndpointSecrets } from '@tollgate/domain/webhooks/secrets-repository'
import { newSigningSecret, signingSecretPlace } from '@tollgate/domain/webhooks/signing-secret'
import { requiredReference } from '@tollgate/schemas/http/fields'
import {
  shownAttemptsMax,
  webhookEndpointCreateSchema,
  webhookEndpointDeletedSchema,
  webhookEndpointSchema,
  webhookEndpointsResponseSchema,
  webhookEndpointUpdateSchema,
  webhookEndpointWithAttemptsSchema,
  webhookEndpointWithSecretSchema,
  webhookSecretRotateSchema,
  type WebhookEndpointBody,
} from '@tollgate/schemas/http/webhook-endpoints'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { Outbound } from '@tollgate/platform/outbound/open-outbound'
import type { Secrets } from '@tollgate/platform/secrets/open-secrets'
import { refusals } from '../../errors.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { mayManage } from '../../access/scopes.ts'
import { operationOf, type Caller } from '../../access/caller.ts'
import { read, type ReadParts } from '../../access/read.ts'
import { attemptSummaryToHttp } from '../translate/webhook-delivery.ts'
import { signingOrder } from '@tollgate/domain/webhooks/endpoint'
import type { Environment } from '@tollgate/schemas/environment'
import { definedFields } from '../../domain/defined-fields.ts'

type Parts = ChangeParts & {
  readonly secrets: Secrets
  readonly outbound: Pick<Outbound, 'of'>
  readonly limits: { readonly webhookEndpointsMax: number }
}

const tags = ['Webhooks']
const params = z.object({ endpointId: requiredReference })
const readConfig = { scope: ['webhooks', 'read'] } as const
const changeConfig = { scope: 'webhooks' } as const

/** Registers the routes of webhook endpoints and their signing secrets. */
export function registerWebhookEndpointRoutes(app: ApiServer, parts: Parts): void {
  registerReads(app, parts)
  registerCreate(app, parts)
  registerUpdate(app, parts)
  registerDelete(app, parts)
  registerSecrets(app, parts)
}

function registerReads(app: ApiServer, parts: ReadParts & { readonly clock: Clock }): void {
  app.get(
    '/v1/webhook_endpoints',
    { config: readConfig, schema: { tags, response: { 200: webhookEndpointsResponseSchema } } },
    async (request) => {
      const { now, ...caller } = operationOf(request, parts.clock)
      const { providerId, environment } = caller
      const found = await read(parts, caller, async (sql) => {
        const endpoints = await listEndpoints(sql, providerId)
        const references = endpoints.map(({ reference }) => reference)
        const secrets = await listSecrets(sql, providerId, references)
        return endpoints.map((endpoint) => ({
          endpoint,
          secrets: secrets.get(endpoint.reference) ?? [],
        }))
      })
      return {
        webhookEndpoints: found.map((each) => webhookEndpointToHttp(each, environment, now)),
      }
    },
  )

  app.get(
    '/v1/webhook_endpoints/:endpointId',
    {
      config: readConfig,
      schema: { tags, params, response: { 200: webhookEndpointWithAttemptsSchema } },
    },
    async (request) => {
      const { now, ...caller } = operationOf(request, parts.clock)
      const { endpointId } = request.params
      const found = await read(parts, caller, async (sql) => {
        const { providerId } = caller
        const endpoint = await findEndpoint(sql, providerId, endpointId)
        if (endpoint === undefined) return undefined
        const attempts = await listLastAttempts(sql, providerId, endpointId, shownAttemptsMax)
        return { endpoint, secrets: await listEndpointSecrets(sql, endpoint), attempts }
      })
      if (found === undefined) throw refusals.webhookEndpointNotFound(endpointId)
      return {
        ...webhookEndpointToHttp(found, caller.environment, now),
        lastAttempts: found.attempts.map((attempt) => ({
          deliveryId: attempt.deliveryRef,
          ...attemptSummaryToHttp(attempt),
        })),
      }
    },
  )
}

function registerCreate(app: ApiServer, parts: Parts): void {
  app.post(
    '/v1/webhook_endpoints',
    {
      config: changeConfig,
      schema: {
        tags,
        body: webhookEndpointCreateSchema,
        response: { 201: webhookEndpointWithSecretSchema },
      },
    },
    async (request, reply) => {
      const operation = operationOf(request, parts.clock)
      const { url, enabledEvents = [] } = request.body
      requireReachableUrl(parts, operation, url)
      const { secret, sealedSecret } = createSecret(parts, operation)
      const { webhookEndpointsMax } = parts.limits
      const sendsLinks = mayManage(request)
      const fields = { url, sendsLinks, enabledEvents: [...new Set(enabledEvents)], sealedSecret }
      const outcome = await commit(parts, operation, (work) =>
        createWebhookEndpoint(work, fields, webhookEndpointsMax),
      )
      if (outcome.kind === 'too-many') throw refusals.tooManyWebhookEndpoints(webhookEndpointsMax)
      const body = webhookEndpointToHttp(outcome, operation.environment, operation.now)
      return reply.code(201).send({ ...body, secret })
    },
  )
}

/** PUT also accepts only the fields to change, because clients use it like PATCH. */
function registerUpdate(
  app: ApiServer,
  parts: ChangeParts & { readonly outbound: Pick<Outbound, 'of'> },
): void {
  for (const method of ['PATCH', 'PUT'] as const) {
    app.route({
      method,
      url: '/v1/webhook_endpoints/:endpointId',
      config: changeConfig,
      schema: {
        tags,
        params,
        body: webhookEndpointUpdateSchema,
        response: { 200: webhookEndpointSchema },
        hide: method === 'PUT',
      },
      handler: async (request) => {
        const operation = operationOf(request, parts.clock)
        const { endpointId } = request.params
        const { url, enabledEvents, status, skipHeldBefore } = request.body
        if (url !== undefined) requireReachableUrl(parts, operation, url)
        const change = {
          url,
          mayGetLinks: mayManage(request),
          enabledEvents: enabledEvents && [...new Set(enabledEvents)],
          status,
          skipHeldBefore: skipHeldBefore === undefined ? undefined : new Date(skipHeldBefore),
        }
        const updated = await commit(parts, operation, (work) =>
          updateWebhookEndpoint(work, endpointId, change),
        )
        if (updated === undefined) throw refusals.webhookEndpointNotFound(endpointId)
        return webhookEndpointToHttp(updated, operation.environment, operation.now)
      },
    })
  }
}

function registerDelete(app: ApiServer, parts: ChangeParts): void {
  app.delete(
    '/v1/webhook_endpoints/:endpointId',
    {
      config: changeConfig,
      schema: { tags, params, response: { 200: webhookEndpointDeletedSchema } },
    },
    async (request) => {
      const { endpointId } = request.params
      const isFound = await commit(parts, operationOf(request, parts.clock), (work) =>
        deleteWebhookEndpoint(work, endpointId),
      )
      if (!isFound) throw refusals.webhookEndpointNotFound(endpointId)
      return { success: true as const }
    },
  )
}

function registerSecrets(app: ApiServer, parts: ChangeParts & { readonly secrets: Secrets }): void {
  app.post(
    '/v1/webhook_endpoints/:endpointId/rotate',
    {
      config: changeConfig,
      schema: {
        tags,
        params,
        body: webhookSecretRotateSchema.nullish(),
        response: { 200: webhookEndpointWithSecretSchema },
      },
    },
    async (request) => {
      const operation = operationOf(request, parts.clock)
      const { endpointId } = request.params
      const { overlapHours } = request.body ?? webhookSecretRotateSchema.parse({})
      const overlapMs = Math.round(overlapHours * 3_600_000)
      const { secret, sealedSecret } = createSecret(parts, operation)
      const outcome = await commit(parts, operation, (work) =>
        rotateSecret(work, endpointId, sealedSecret, overlapMs),
      )
      switch (outcome.kind) {
        case 'not-found':
          throw refusals.webhookEndpointNotFound(endpointId)
        case 'too-many':
          throw refusals.tooManyWebhookSecrets(liveSecretsMax, outcome.freeAt)
        case 'rotated': {
          const body = webhookEndpointToHttp(outcome, operation.environment, operation.now)
          return { ...body, secret }
        }
      }
    },
  )

  app.post(
    '/v1/webhook_endpoints/:endpointId/promote',
    { config: changeConfig, schema: { tags, params, response: { 200: webhookEndpointSchema } } },
    async (request) => {
      const operation = operationOf(request, parts.clock)
      const { endpointId } = request.params
      const promoted = await commit(parts, operation, (work) =>
        promoteNewestSecret(work, endpointId),
      )
      if (promoted === undefined) throw refusals.webhookEndpointNotFound(endpointId)
      return webhookEndpointToHttp(promoted, operation.environment, operation.now)
    },
  )
}

/** Refuses an address that events will never be sent to, so that the provider gets the error when it enters the address. */
function requireReachableUrl(
  { outbound }: { readonly outbound: Pick<Outbound, 'of'> },
  { environment }: Caller,
  url: string,
): void {
  const judgement = outbound.of(environment).judge(url)
  if (judgement.kind === 'refused') throw refusals.webhookUrlRefused(judgement.reason)
}

function createSecret({ secrets }: { readonly secrets: Secrets }, { providerId }: Caller) {
  const secret = newSigningSecret(randomBytes)
  return { secret, sealedSecret: secrets.seal(secret, signingSecretPlace(providerId)) }
}

/** Converts an endpoint that was not deleted. */
function webhookEndpointToHttp(
  { endpoint, secrets }: EndpointWithSecrets,
  environment: Environment,
  now: Date,
): WebhookEndpointBody {
  const { disabledReason, disabledAt, failingSince } = endpoint
  return {
    id: endpoint.reference,
    url: endpoint.url,
    sendsLinks: endpoint.sendsLinks,
    enabledEvents: [...endpoint.enabledEvents],
    status: endpoint.status === 'enabled' ? 'enabled' : 'disabled',
    failureCount: endpoint.failureCount,
    livemode: environment === 'live',
    signingSecrets: signingOrder(secrets, now).map(({ reference, createdAt, expiresAt }) => ({
      id: reference,
      createdAt: createdAt.toISOString(),
      ...definedFields({ expiresAt: expiresAt?.toISOString() }),
    })),
    createdAt: endpoint.createdAt.toISOString(),
    updatedAt: endpoint.updatedAt.toISOString(),
    ...definedFields({
      disabledReason,
      disabledAt: disabledAt?.toISOString(),
      failingSince: failingSince?.toISOString(),
    }),
  }
}
