import { startEmbeddedPostgres } from '../src/database/embedded/embedded-postgres.ts'

/** A parent process to be killed: starts a server on the folder of its argument, reports the URL and stays. */
const server = await startEmbeddedPostgres({ folder: process.argv[2] ?? '', port: 0 })
process.send?.({ url: server.url })
setInterval(() => {}, 60_000)
