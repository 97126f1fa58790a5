import { execFile } from 'node:child_process'
import { chownSync, existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { chooseAccount, type Launcher } from '@tollgate/platform/database/embedded/launcher'
import { clearTheWay } from '@tollgate/platform/database/embedded/postmaster'
import { createDatabase } from '@tollgate/platform/database/postgres/create-database'
import { host } from '@tollgate/deploy/standalone/ports'
import { engineOf, type Engine, type EngineOptions } from './engine.ts'
import { requireProgram } from './programs.ts'
import { passwordFile, readOrCreatePassword } from '@tollgate/deploy/standalone/password-file'
import { startServer, type Command } from './server.ts'

const run = promisify(execFile)
const userName = 'tollgate'
const databaseName = 'tollgate'

/** Starts the system's PostgreSQL with a superuser and a database named `tollgate`. */
export async function startPostgres(options: EngineOptions, port: number): Promise<Engine> {
  const url = await postgresUrl(options.root, port)
  const server = await startServer(
    {
      engine: 'postgres',
      name: 'postgres',
      port,
      portVariable: 'TOLLGATE_ENGINES_POSTGRES_PORT',
      // SIGINT closes sessions. SIGTERM would wait for clients to disconnect.
      stopSignal: 'SIGINT',
      isReady: () => postgresAnswers(options.root, port),
      prepare: (folder) => preparePostgres(options, port, folder),
    },
    options,
  )
  return engineOf(url, [server])
}

/** Returns the URL with the password. The password is created if the folder has none. */
async function postgresUrl(root: string, port: number): Promise<string> {
  const password = await readOrCreatePassword(join(root, 'postgres'))
  return `postgres://${userName}:${password}@${host}:${port}/${databaseName}`
}

const answerTimeoutMs = 3_000

/**
 * Returns whether the server is ready and has the database. The database is created here and not by initdb, so that it is also
 * created after a crash between the two.
 */
export async function postgresAnswers(root: string, port: number): Promise<boolean> {
  const server = new URL(await postgresUrl(root, port))
  server.pathname = '/postgres'
  const answer = createDatabase(server.href, databaseName).then(
    () => true,
    () => false,
  )
  return await Promise.race([answer, sleep(answerTimeoutMs, false, { ref: false })])
}

async function preparePostgres(
  options: EngineOptions,
  port: number,
  folder: string,
): Promise<Command> {
  const postgres = await requireProgram('postgres', options.print)
  const data = join(folder, 'data')
  const account = chooseAccount({ folder, dataFolder: data, postgres })
  // No owner file is written here, so a running server that is not in the process record counts as left over and is stopped.
  if (existsSync(data)) await clearTheWay(data, join(folder, 'owner.json'))
  else await createData(join(dirname(postgres), 'initdb'), account, folder, data)
  const settings = {
    port: String(port),
    listen_addresses: host,
    // Do not create a socket file. Its path would be too long in some folders, and in /tmp other users could connect to it.
    unix_socket_directories: '',
    timezone: 'UTC',
    log_timezone: 'UTC',
  }
  const asArguments = Object.entries(settings).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ])
  return { file: postgres, args: ['-D', data, ...asArguments], account }
}

/** Creates the data folder under a temporary name and renames it at the end, so that a crash leaves no incomplete database. */
async function createData(
  initdb: string,
  account: Launcher,
  folder: string,
  data: string,
): Promise<void> {
  const unfinished = `${data}.unfinished`
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished, { mode: 0o700 })
  const { uid, gid } = account
  const other = uid === undefined || gid === undefined ? undefined : { uid, gid }
  if (other) {
    for (const path of [unfinished, passwordFile(folder)]) chownSync(path, other.uid, other.gid)
  }
  const [file = initdb, ...args] = [
    ...account.prefix,
    initdb,
    `--pgdata=${unfinished}`,
    `--username=${userName}`,
    `--pwfile=${passwordFile(folder)}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
  ]
  await run(file, args, { cwd: folder, ...other })
  await rename(unfinished, data)
}
