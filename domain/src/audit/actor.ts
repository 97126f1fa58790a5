import type { TransactionSql } from 'postgres'

/** The actor of a change, for the audit log. */
export type Actor = {
  /** `key:<key id>`, `user:<user id>` of the console, `customer:<reference>`, `job:<name>`, `service:<name>` or `cli:<user>`. */
  readonly name: string
  /** The route, the job or the command. */
  readonly operation: string
  readonly requestId: string | null
  /** IP address of the client that sent the request. */
  readonly ip: string | null
}

/** Origin of a request whose user is only known after it was checked. */
export type ActorOrigin = Omit<Actor, 'name'>

export function userActor(userId: string, origin: ActorOrigin): Actor {
  return { ...origin, name: `user:${userId}` }
}

/** Returns the actor for a customer on a hosted page. */
export function customerActor(customerRef: string, origin: ActorOrigin): Actor {
  return { ...origin, name: `customer:${customerRef}` }
}

/** Returns the actor for an internal job. */
export function jobActor(name: string): Actor {
  return { name: `job:${name}`, operation: name, requestId: null, ip: null }
}

/**
 * Sets the actor of this transaction's changes, for the triggers that record them. The statement is sent together with
 * the next statement and runs before it. If it fails, the transaction fails.
 */
export function setActor(sql: TransactionSql, { name, operation, requestId, ip }: Actor): void {
  void sql`
    select set_config('tollgate.actor', ${name}, true), set_config('tollgate.operation', ${operation}, true),
      set_config('tollgate.request_id', ${requestId ?? ''}, true), set_config('tollgate.ip', ${ip ?? ''}, true)
  `.execute()
}
