import type { Queryable } from '@tollgate/platform/database/database'

/** A card that a customer is entering at the processor, to be saved. */
export type CardSetupRow = {
  readonly customerRef: string
  /** Null while the setup can still succeed. */
  readonly endedAt: Date | null
}

/** Does nothing if the setup is stored already. */
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

/** Ends the setup. Returns whether it was open until now: of several concurrent calls, one returns true. */
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

/** Removes the customer's setups. A setup that succeeds later then has no customer. */
export async function removeSetups(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<void> {
  await sql`
    delete from card_setups where provider_id = ${providerId} and customer_ref = ${customerRef}`
}
