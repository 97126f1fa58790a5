import { resolve } from 'node:path'
import { readSettings } from '@tollgate/platform/config/settings'
import { Command } from 'commander'
import { standaloneSettings } from '@tollgate/deploy/settings/standalone-settings'
import { wholeNumber } from '../terminal/whole-number.ts'
import { findInstance } from '../instance/find-instance.ts'
import { runDemo, type DemoOptions } from './run-demo.ts'

const program = new Command('npm run demo --')
  .description(
    'Send MCP traffic to the running instance, or to a temporary one, and compare what was sent, counted and stored.',
  )
  .option('-s, --seconds <seconds>', 'How long to send, in seconds', wholeNumber(1, 3_600), 20)
  .option('-a, --agents <count>', 'Concurrent agents', wholeNumber(1, 200), 24)
  .option(
    '--seed <number>',
    'Seed of the random traffic: the same seed repeats it',
    wholeNumber(0, 2 ** 32 - 1),
    1,
  )
program.parse()

const print = (line: string): void => console.log(line)
const { dataDir } = readSettings(standaloneSettings, process.env)
const instance = await findInstance(resolve(dataDir), process.env, print)
try {
  const agree = await runDemo(instance.credentials, program.opts<DemoOptions>(), print)
  if (!agree) process.exitCode = 1
} finally {
  await instance.release()
}
