import type { Sql } from 'postgres'

export type EndedSignIns = { readonly records: number; readonly keys: number }

/**
 * Ends all that lets clients act for customers, of all providers: codes, grants, refresh tokens, browsers that are signed in, and the
 * keys that signed access tokens. Clients stay registered. A provider gets a new key when it is next needed.
 */
export function endAllSignIns(sql: Sql): Promise<EndedSignIns> {
  return sql.begin(async (work) => {
    const records = await work`
      delete from oauth_records where model not in ('Client', 'ClientDocument')`
    await work`delete from customer_browser_sessions`
    await work`delete from customer_sign_ins`
    const keys = await work`delete from oauth_signing_keys`
    return { records: records.count, keys: keys.count }
  })
}
