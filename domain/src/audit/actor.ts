import type { TransactionSql } from 'postgres'

/** Who changes something, for the audit log. */
export type Actor = {
  /** `key:<key id>`, `user:<user id>` of the console, `customer:<reference>`, `job:<name>`, `service:<name>` or `cli:<user>`. */
  readonly name: string
  /** The route, the job or the command. */
  readonly operation: string
  readonly requestId: string | null
  /** Of whoever sent the request. */
  readonly ip: string | null
}

/** How somebody came who turns out to be a user only then. */
export type ActorOrigin = Omit<Actor, 'name'>

export function userActor(userId: string, origin: ActorOrigin): Actor {
  return { ...origin, name: `user:${userId}` }
}

/** A customer on a hosted page. */
export function customerActor(customerRef: string, origin: ActorOrigin): Actor {
  return { ...origin, name: `customer:${customerRef}` }
}

/** A job of ours, which nobody asked for. */
export function jobActor(name: string): Actor {
  return { name: `job:${name}`, operation: name, requestId: null, ip: null }
}

/**
 * Says who makes the changes of this transaction, to the triggers that record them. Sent together with the next
 * statement, and before it; should it fail, the transaction does.
 */
export function nameActor(sql: TransactionSql, { name, operation, requestId, ip }: Actor): void {
  void sql`
    select set_config('tollgate.actor', ${name}, true), set_config('tollgate.operation', ${operation}, true),
      set_config('tollgate.request_id', ${requestId ?? ''}, true), set_config('tollgate.ip', ${ip ?? ''}, true)
  `.execute()
}
