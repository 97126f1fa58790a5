import type { Queryable } from '@tollgate/platform/database/database'
import type { WebhookEndpoint, WebhookSecret } from './endpoint.ts'

type EndpointKey = Pick<WebhookEndpoint, 'providerId' | 'reference'>

type SecretRow = {
  reference: string
  endpoint_ref: string
  secret: string
  signs_first: boolean
  created_at: Date
  expires_at: Date | null
}

export async function insertSecret(
  sql: Queryable,
  { providerId, reference }: EndpointKey,
  secret: WebhookSecret,
): Promise<void> {
  await sql`
    insert into webhook_secrets
      (provider_id, reference, endpoint_ref, secret, signs_first, created_at, expires_at)
    values (${providerId}, ${secret.reference}, ${reference}, ${secret.sealed}, ${secret.signsFirst},
      ${secret.createdAt}, ${secret.expiresAt})`
}

/** Returns the secrets of each endpoint, keyed by its reference, including those that have ended. */
export async function listSecrets(
  sql: Queryable,
  providerId: string,
  endpointRefs: readonly string[],
): Promise<ReadonlyMap<string, readonly WebhookSecret[]>> {
  const rows = await sql<SecretRow[]>`
    select * from webhook_secrets
    where provider_id = ${providerId} and endpoint_ref = any(${[...endpointRefs]}::text[])
    order by created_at, reference`
  const byEndpoint = new Map<string, WebhookSecret[]>()
  for (const row of rows) {
    const own = byEndpoint.get(row.endpoint_ref) ?? []
    byEndpoint.set(row.endpoint_ref, [...own, fromRow(row)])
  }
  return byEndpoint
}

export async function listEndpointSecrets(
  sql: Queryable,
  { providerId, reference }: EndpointKey,
): Promise<readonly WebhookSecret[]> {
  const secrets = await listSecrets(sql, providerId, [reference])
  return secrets.get(reference) ?? []
}

export async function setSecretExpiry(
  sql: Queryable,
  providerId: string,
  secretRef: string,
  expiresAt: Date,
): Promise<void> {
  await sql`
    update webhook_secrets set expires_at = ${expiresAt}
    where provider_id = ${providerId} and reference = ${secretRef}
      and expires_at is distinct from ${expiresAt}`
}

/** Makes this the only one of the endpoint's secrets that signs first. */
export async function setSigningFirst(
  sql: Queryable,
  { providerId, reference }: EndpointKey,
  secretRef: string,
): Promise<void> {
  // The order matters: two secrets must not sign first at the same time.
  await sql`
    update webhook_secrets set signs_first = false
    where provider_id = ${providerId} and endpoint_ref = ${reference} and signs_first
      and reference <> ${secretRef}`
  await sql`
    update webhook_secrets set signs_first = true
    where provider_id = ${providerId} and endpoint_ref = ${reference} and reference = ${secretRef}
      and not signs_first`
}

export async function deleteEndedSecrets(
  sql: Queryable,
  { providerId, reference }: EndpointKey,
  now: Date,
): Promise<void> {
  await sql`
    delete from webhook_secrets
    where provider_id = ${providerId} and endpoint_ref = ${reference} and expires_at <= ${now}`
}

function fromRow(row: SecretRow): WebhookSecret {
  return {
    reference: row.reference,
    sealed: row.secret,
    signsFirst: row.signs_first,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  }
}
