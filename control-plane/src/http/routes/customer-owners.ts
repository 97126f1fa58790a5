import { serviceTokenOf } from '@tollgate/domain/api-keys/service-token'
import {
  listHeldReferences,
  listProvidersOfCustomers,
} from '@tollgate/domain/customers/customer-owners'
import type { Database } from '@tollgate/platform/database/database'
import { environments } from '@tollgate/schemas/environment'
import {
  customerOwnersPath,
  customerOwnersResponseSchema,
  customerOwnersSchema,
  type CustomerOwnersResponse,
} from '@tollgate/schemas/http/customer-owners'
import type { ApiServer } from '../../access/api-server.ts'
import { hiddenUnless } from '../plugins/authentication.ts'

/**
 * Registers the route that tells ingest which provider owns the customers in messages of the bus. It searches all providers and
 * environments, because these messages carry no key. Callers without the secret of the services get the response of a route that
 * does not exist.
 */
export function registerCustomerOwnersRoute(
  app: ApiServer,
  database: Database,
  serviceSecret: string,
): void {
  const token = serviceTokenOf(serviceSecret, customerOwnersPath)
  app.post(
    customerOwnersPath,
    {
      onRequest: hiddenUnless(token),
      schema: {
        hide: true,
        body: customerOwnersSchema,
        response: { 200: customerOwnersResponseSchema },
      },
    },
    async ({ body: { references, providerId } }) => {
      const owners = new Map<string, CustomerOwnersResponse['owners'][number]>()
      for (const environment of environments) {
        const sql = database.in(environment)
        const held =
          providerId === undefined
            ? await listProvidersOfCustomers(sql, references)
            : await listHeldReferences(sql, providerId, references)
        for (const { reference, providerId } of held) {
          owners.set(reference, [...(owners.get(reference) ?? []), { providerId, environment }])
        }
      }
      return { owners: references.map((reference) => owners.get(reference) ?? []) }
    },
  )
}
