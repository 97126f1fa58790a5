import { access, mkdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import { readSettings } from '@tollgate/platform/config/settings'
import { createLogger } from '@tollgate/platform/observability/logger'
import { readCredentials, writeCredentials } from '../standalone/credentials.ts'
import { dataFolderAt, type DataFolder } from '../standalone/data-folder.ts'
import { runWithProgress } from './run-with-progress.ts'
import { requireEngines, targetSettings } from './settings.ts'
import { openSource } from './source/open-source.ts'
import { requireDebitsPosted } from './source/require-debits-posted.ts'
import { requireCorrectionsApplied } from './source/require-corrections-applied.ts'
import { requireUsageEventsSent } from './source/require-usage-events-sent.ts'
import type { Source } from './source/source.ts'
import { beginLog } from './steps/begin-log.ts'
import { moveDatabase } from './steps/move-database.ts'
import { moveRows } from './steps/move-rows.ts'
import { moveTail } from './steps/move-tail.ts'
import { moveUnreadable } from './steps/move-unreadable.ts'
import { openTarget } from './target/open-target.ts'
import type { Target } from './target/target.ts'
import { compareSides } from './verify/compare.ts'

export type MigrateOptions = {
  /** Data folder of the embedded installation. */
  readonly from: string
  /** Environment that names the engines, in the settings of the services. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  readonly print: (line: string) => void
}

/**
 * Moves an embedded installation to the engines. After a kill at any moment, the same call continues: each step either records its
 * progress together with its effect, or determines it from the target. The source is not changed.
 *
 * Returns whether both sides contain the same.
 */
export async function migrate(options: MigrateOptions): Promise<boolean> {
  const { environment, signal, print } = options
  const folder = dataFolderAt(resolve(options.from))
  requireEngines(environment)
  const config = readSettings(targetSettings, environment)
  print(`Opening ${folder.root} ...`)
  const source = await openSource(folder)
  try {
    await requireDebitsPosted(source)
    await requireUsageEventsSent(source)
    await requireCorrectionsApplied(source)
    signal.throwIfAborted()
    print('Opening the engines ...')
    const target = await openTarget(config, source, createLogger('migrate', 'error'))
    try {
      signal.throwIfAborted()
      if (target.journal.isFinished) {
        print('This installation has been moved to these engines already: there is nothing to do.')
        return true
      }
      return await moveAll(source, target, folder, options)
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

async function moveAll(
  source: Source,
  target: Target,
  folder: DataFolder,
  { environment, signal, print }: MigrateOptions,
): Promise<boolean> {
  await runWithProgress('PostgreSQL', 'tables', signal, (work) =>
    moveDatabase(source, target, work),
  )
  await runWithProgress('ClickHouse', 'records', signal, (work) => moveRows(source, target, work))
  await runWithProgress('ClickHouse, unreadable', 'records', signal, (work) =>
    moveUnreadable(source, target, work),
  )
  // The log is moved last, because services could start counting its records before the other stores are complete.
  await runWithProgress('log, beginning', 'partitions', signal, (work) => beginLog(target, work))
  await runWithProgress('log', 'records', signal, (work) => moveTail(source, target, work))
  print('Adding up both sides ...')
  const { isSame, report } = await compareSides(source, target)
  print(`\n${report}\n`)
  if (!isSame) {
    print('The two sides DIFFER. Do not start services on the engines. The source is unchanged.')
    return false
  }
  await copyCredentials(folder, environment)
  await target.journal.finish(target.database.control)
  print(`Both sides hold the same. ${nextSteps(folder)}`)
  return true
}

/**
 * Copies the credentials file, so that `npm start` on the engines uses the keys of the demo provider. Without the file it would
 * create new keys.
 */
async function copyCredentials(
  from: DataFolder,
  environment: MigrateOptions['environment'],
): Promise<void> {
  const dataDir = environment['TOLLGATE_DATA_DIR'] ?? ''
  const to = dataFolderAt(resolve(dataDir))
  const credentials = await readCredentials(from.credentialsFile)
  if (dataDir === '' || to.root === from.root || credentials === undefined) return
  const isThere = await access(to.credentialsFile).then(
    () => true,
    () => false,
  )
  if (isThere) return
  await mkdir(to.root, { recursive: true })
  await writeCredentials(to.credentialsFile, credentials)
}

function nextSteps({ root }: DataFolder): string {
  return (
    'Next:\n' +
    '  1. Start the services with the same settings (docs/operations.md). Keys keep working.\n' +
    '  2. Point your clients to their address.\n' +
    `  3. Do not start ${root} again: data that it accepts from now on is not on the engines. The folder is\n` +
    '     unchanged. Keep it or delete it.'
  )
}
