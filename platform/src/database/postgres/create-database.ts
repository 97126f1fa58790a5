import postgres from 'postgres'

/** Creates the database on the server as a copy of `template`, unless it exists. */
export async function createDatabase(
  serverUrl: string,
  name: string,
  template = 'template1',
): Promise<void> {
  const sql = postgres(serverUrl, { max: 1, connect_timeout: 10, onnotice: () => {} })
  try {
    const found = await sql`SELECT 1 FROM pg_database WHERE datname = ${name}`
    if (found.length === 0) await sql`CREATE DATABASE ${sql(name)} TEMPLATE ${sql(template)}`
  } finally {
    await sql.end({ timeout: 5 })
  }
}
