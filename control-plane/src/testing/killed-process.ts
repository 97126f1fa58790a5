/*
 * A control plane, or one of the operator's commands, that kills itself (-9) at one of its writes to the hot state:
 * killed-process.js <before|after> <number of the write> [command ...]
 *
 * It is bundled with the sources, because a program in TypeScript takes much longer to start: each of its imports passes through
 * the loader.
 */
import { join } from 'node:path'
import { createCommandLine } from '@tollgate/platform/cli/command-line'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import { createLogger } from '@tollgate/platform/observability/logger'
import { runService } from '@tollgate/platform/service/run-service'
import { cliActor } from '../cli/open-cli-parts.ts'
import { addManagementCommands } from '../cli/program.ts'
import { readControlPlaneConfig } from '../config.ts'
import { createControlPlane } from '../service.ts'
import { hookWrites } from './around-writes.ts'

const [moment, lastWrite, ...command] = process.argv.slice(2)
const config = readControlPlaneConfig(process.env)
let writes = 0
const hotState = hookWrites(
  await openLmdbHotState({ folder: join(config.dataDir, 'hot'), role: 'publisher' }),
  async (runWrite) => {
    const isLast = String(writes++) === lastWrite
    if (isLast && moment === 'before') process.kill(process.pid, 'SIGKILL')
    await runWrite()
    if (isLast) process.kill(process.pid, 'SIGKILL')
  },
)

if (command.length === 0) {
  const logger = createLogger('control-plane', config.logLevel)
  const service = createControlPlane(config, { hotState, logger })
  await runService(service, { logger, tracing: undefined }, () => ({ port: service.port }))
} else {
  const database = createPostgresDatabase({ url: config.databaseUrl, poolMax: 2 })
  const { program, output } = createCommandLine('tollgate', () => undefined)
  addManagementCommands(program, (run) =>
    run({
      database,
      hotState,
      actorOf: cliActor,
      now: () => new Date(),
      output,
      openSecrets: () => Promise.reject(new Error('no command here needs secrets')),
      hostedUrl: config.hostedUrl,
      passwordLinkMs: 3_600_000,
    }),
  )
  await program.parseAsync(command, { from: 'user' })
  // The process gets here only if it did not reach that write.
  await hotState.close()
  await database.close()
}
