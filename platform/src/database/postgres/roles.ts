import type { Sql } from 'postgres'

/** Role of requests: sees and writes only rows of the provider that its transaction names; see `provider-rows.ts`. */
export const requestsRole = 'tollgate_requests'

/** Role of jobs: sees the rows of all providers, for publishing, housekeeping, key lookups and operator commands. */
export const jobsRole = 'tollgate_jobs'

/**
 * Creates the two roles of the services. Neither owns a table, so policies apply to both. The login that migrates becomes a member
 * of both, so an installation with a single login works as well.
 */
export async function ensureRoles(sql: Sql): Promise<void> {
  try {
    for (const role of [requestsRole, jobsRole]) await ensureRole(sql, role)
  } catch (error) {
    if ((error as { code?: unknown }).code !== insufficientPrivilege) throw error
    throw new Error(await advice(sql), { cause: error })
  }
}

const insufficientPrivilege = '42501'

/** Creates one role. Roles belong to the whole server, so the migration of another database may create it at the same moment. */
async function ensureRole(sql: Sql, role: string): Promise<void> {
  await sql.unsafe(`
    do $$ begin
      if not exists (select from pg_roles where rolname = '${role}') then
        create role ${role} nologin;
      end if;
    exception when duplicate_object or unique_violation then null;
    end $$`)
  const [found] = await sql<{ is_held: boolean; is_used: boolean }[]>`
    select not (rolsuper or rolbypassrls) as is_held, pg_has_role(oid, 'usage') as is_used
    from pg_roles where rolname = ${role}`
  if (found?.is_held !== true) {
    throw new Error(`The role ${role} of PostgreSQL must have neither SUPERUSER nor BYPASSRLS.`)
  }
  if (!found.is_used) await sql.unsafe(`grant ${role} to current_user`)
}

async function advice(sql: Sql): Promise<string> {
  const [login] = await sql<{ name: string }[]>`select quote_ident(current_user) as name`
  return (
    `The login ${login!.name} of PostgreSQL may not take on the roles of Tollgate. Let an administrator run, where they are missing: ` +
    `create role ${requestsRole} nologin; create role ${jobsRole} nologin; then: ` +
    `grant ${requestsRole}, ${jobsRole} to ${login!.name};`
  )
}
