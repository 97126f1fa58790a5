import { setActor } from '@tollgate/domain/audit/actor'
import type { Pool } from './pool.ts'
import { dispatcherActor } from './record-outcomes.ts'

/** Makes this secret sign first from now on, unless it no longer exists. */
export async function promoteSecret(
  pool: Pool,
  providerId: string,
  endpointRef: string,
  secretRef: string,
): Promise<void> {
  await pool.begin(async (sql) => {
    setActor(sql, dispatcherActor)
    // Rotations and promotions lock the endpoint first.
    await sql`
      select from webhook_endpoints
      where provider_id = ${providerId} and reference = ${endpointRef} for no key update`
    const [secret] = await sql`
      select from webhook_secrets
      where provider_id = ${providerId} and endpoint_ref = ${endpointRef} and reference = ${secretRef}`
    if (secret === undefined) return
    await sql`
      update webhook_secrets set signs_first = false
      where provider_id = ${providerId} and endpoint_ref = ${endpointRef} and signs_first and reference <> ${secretRef}`
    await sql`
      update webhook_secrets set signs_first = true
      where provider_id = ${providerId} and reference = ${secretRef} and not signs_first`
  })
}
