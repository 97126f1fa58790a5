import type { Queryable } from '@tollgate/platform/database/database'

/** A card that is being entered at the processor, to be kept. */
export type CardSetupRow = {
  readonly customerRef: string
  /** Null while something may come of it. */
  readonly endedAt: Date | null
}

/** Nothing where it is known. */
export async function insertSetup(
  sql: Queryable,
  providerId: string,
  setupIntentId: string,
  customerRef: string,
  now: Date,
): Promise<void> {
  await sql`
    insert into card_setups (provider_id, setup_intent_id, customer_ref, created_at)
    values (${providerId}, ${setupIntentId}, ${customerRef}, ${now})
    on conflict (provider_id, setup_intent_id) do nothing`
}

export async function findSetup(
  sql: Queryable,
  providerId: string,
  setupIntentId: string,
): Promise<CardSetupRow | undefined> {
  const [row] = await sql<{ customer_ref: string; ended_at: Date | null }[]>`
    select customer_ref, ended_at from card_setups
    where provider_id = ${providerId} and setup_intent_id = ${setupIntentId}`
  return row === undefined ? undefined : { customerRef: row.customer_ref, endedAt: row.ended_at }
}

/** Whether it was open until now: of all that end it, one does. */
export async function endSetup(
  sql: Queryable,
  providerId: string,
  setupIntentId: string,
  now: Date,
): Promise<boolean> {
  const ended = await sql`
    update card_setups set ended_at = ${now}
    where provider_id = ${providerId} and setup_intent_id = ${setupIntentId} and ended_at is null`
  return ended.count > 0
}

/** What may come of them is nobody's any more. */
export async function removeSetups(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<void> {
  await sql`
    delete from card_setups where provider_id = ${providerId} and customer_ref = ${customerRef}`
}
