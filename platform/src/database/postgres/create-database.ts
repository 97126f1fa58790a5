import postgres from 'postgres'

/** Creates the database on the server, unless it exists. */
export async function createDatabase(serverUrl: string, name: string): Promise<void> {
  const sql = postgres(serverUrl, { max: 1, connect_timeout: 10, onnotice: () => {} })
  try {
    const found = await sql`SELECT 1 FROM pg_database WHERE datname = ${name}`
    if (found.length === 0) await sql`CREATE DATABASE ${sql(name)}`
  } finally {
    await sql.end({ timeout: 5 })
  }
}
