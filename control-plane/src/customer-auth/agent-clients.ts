import { randomBytes } from 'node:crypto'
import { recordPayloadPlace, saveRecord } from '@tollgate/domain/customer-auth/oauth-records'
import type { UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'
import { clientCustomerProperty, customerScopes } from './client-metadata.ts'
import type { Issuer } from './issuers.ts'

/**
 * Stores a client that gets access tokens for one customer with its secret alone, for agents without a person. The client exists as
 * long as the customer, and the audit log records its creator. Returns the only copy of the secret.
 */
export async function createAgentClient(
  { sql, now }: UnitOfWork,
  { store, address }: Issuer,
  customerRef: string,
  name: string | undefined,
) {
  const clientId = `agent_${randomBytes(12).toString('base64url')}`
  const clientSecret = randomBytes(32).toString('base64url')
  const metadata = {
    client_id: clientId,
    client_secret: clientSecret,
    client_name: name,
    grant_types: ['client_credentials'],
    response_types: [],
    redirect_uris: [],
    token_endpoint_auth_method: 'client_secret_basic',
    scope: customerScopes.join(' '),
    [clientCustomerProperty]: customerRef,
  }
  const { place, secrets } = store
  const record = {
    model: 'Client',
    id: clientId,
    sealedPayload: secrets.seal(JSON.stringify(metadata), recordPayloadPlace(place.providerId)),
    grantId: undefined,
    uid: undefined,
    clientId,
    customerRef,
    expiresAt: null,
  }
  await saveRecord(sql, place, record, now)
  return {
    clientId,
    clientSecret,
    customerRef,
    tokenUrl: `${address.issuer}/oauth/token`,
    resource: address.proxyUrl,
  }
}
