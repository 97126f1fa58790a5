import { Command } from 'commander'
import { SettingsError } from '@tollgate/platform/config/settings'
import { DataFolderError } from '@tollgate/platform/lmdb/environment'
import { dataFolderAt } from '../standalone/data-folder.ts'
import { explainFileError, StartRefusedError } from '../standalone/start-refused.ts'
import { repairLog } from './repair-log.ts'
import { verifyLog } from './verify-log.ts'

type Environment = Readonly<Record<string, string | undefined>>

const ofKafka =
  'The event log is Kafka. Its brokers check the sums of what they keep and copy it from each other: look there.'

/** The process's part of `tollgate log`: words and exit code. 0: nothing is wrong, or it was repaired. */
export async function runLogCommand(
  parameters: readonly string[],
  environment: Environment,
): Promise<number> {
  const say = (line: string): void => console.log(line)
  const folder = dataFolderAt(environment['TOLLGATE_DATA_DIR'] ?? '.tollgate')
  let isWell = true
  const program = new Command('npm run tollgate -- log').description('The embedded event log')
  program
    .command('verify')
    .description('Read all segments and say what is wrong with each; also while Tollgate runs')
    .action(async () => void (isWell = await verifyLog(folder, say)))
  program
    .command('repair')
    .description(
      'Drop damaged segments if all of their records are counted and stored in ClickHouse; stop Tollgate first',
    )
    .action(async () => void (isWell = await repairLog(folder, environment, say)))
  if (environment['TOLLGATE_EVENT_LOG'] === 'kafka') {
    console.error(ofKafka)
    return 1
  }
  try {
    await program.parseAsync([...parameters], { from: 'user' })
    return isWell ? 0 : 1
  } catch (error) {
    const known = explainFileError(error, folder.root)
    const isPlain =
      known instanceof StartRefusedError ||
      known instanceof SettingsError ||
      known instanceof DataFolderError
    console.error(isPlain ? known.message : known)
    return 1
  }
}
