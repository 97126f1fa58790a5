import { randomBytes } from 'node:crypto'
import {
  deleteTaxService,
  findTaxService,
  saveTaxService,
} from '@tollgate/domain/tax-service/repository'
import { taxServiceSecretPlace, type TaxService } from '@tollgate/domain/tax-service/tax-service'
import { newSigningSecret } from '@tollgate/domain/webhooks/signing-secret'
import type { Outbound } from '@tollgate/platform/outbound/open-outbound'
import type { Secrets } from '@tollgate/platform/secrets/open-secrets'
import {
  taxServiceResponseSchema,
  taxServiceUpdateSchema,
  type TaxServiceResponseBody,
} from '@tollgate/schemas/http/tax-service'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf, operationOf } from '../../access/caller.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { read } from '../../access/read.ts'
import { refusals } from '../../errors.ts'

type Parts = ChangeParts & {
  readonly secrets: Secrets
  readonly outbound: Pick<Outbound, 'of'>
}

const path = '/v1/ui/tax-service'
const tags = ['Merchant']
const response = { 200: taxServiceResponseSchema }

/** Registers the routes of the server that decides a provider's taxes in place of the built-in rates. */
export function registerTaxServiceRoutes(app: ApiServer, parts: Parts): void {
  app.get(path, { schema: { tags, response } }, async (request) => {
    const caller = callerOf(request)
    const service = await read(parts, caller, (sql) => findTaxService(sql, caller.providerId))
    return toHttp(service)
  })

  app.put(
    path,
    { schema: { tags, body: taxServiceUpdateSchema, response } },
    async (request): Promise<TaxServiceResponseBody> => {
      const operation = operationOf(request, parts.clock)
      const { url, onFailure, newSecret } = request.body
      const { providerId, environment } = operation
      const judgement = parts.outbound.of(environment).judge(url)
      if (judgement.kind === 'refused') throw refusals.taxServiceUrlRefused(judgement.reason)
      const secret = newSigningSecret(randomBytes)
      const sealed = parts.secrets.seal(secret, taxServiceSecretPlace(providerId))
      return commit(parts, operation, async ({ sql, now }) => {
        const before = await findTaxService(sql, providerId)
        const keeps = before !== undefined && !newSecret
        const service: TaxService = {
          ...{ url, onFailure, updatedAt: now, createdAt: before?.createdAt ?? now },
          sealedSecret: keeps ? before.sealedSecret : sealed,
        }
        await saveTaxService(sql, providerId, service)
        return { ...toHttp(service), ...(keeps ? {} : { secret }) }
      })
    },
  )

  app.delete(path, { schema: { tags, response } }, async (request) => {
    await commit(parts, operationOf(request, parts.clock), ({ sql, providerId }) =>
      deleteTaxService(sql, providerId),
    )
    return toHttp(undefined)
  })
}

function toHttp(service: TaxService | undefined): TaxServiceResponseBody {
  if (service === undefined) return { taxService: null }
  const { url, onFailure, createdAt, updatedAt } = service
  const times = { createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() }
  return { taxService: { url, onFailure, ...times } }
}
