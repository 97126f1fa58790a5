import type { Sql } from 'postgres'
import { setActor, type Actor } from '../audit/actor.ts'

export type EndedSignIns = { readonly records: number; readonly keys: number }

/**
 * Ends everything that lets clients act for customers, at all providers: codes, grants, refresh tokens, signed-in
 * browsers, sign-ins in progress at an upstream, and the keys that sign access tokens. Clients stay registered, and
 * clients of agents keep their secrets. The audit log of each provider names who deleted its keys. A new key is created
 * when a provider next needs one.
 */
export function endAllSignIns(sql: Sql, actor: Actor): Promise<EndedSignIns> {
  return sql.begin(async (work) => {
    setActor(work, actor)
    const records = await work`
      delete from oauth_records where model not in ('Client', 'ClientDocument')`
    await work`delete from customer_browser_sessions`
    await work`delete from customer_sign_ins`
    await work`delete from customer_upstream_sign_ins`
    const keys = await work`delete from oauth_signing_keys`
    return { records: records.count, keys: keys.count }
  })
}
