import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { readSettings } from '@tollgate/platform/config/settings'
import { engineSettings } from '../settings/engine-settings.ts'
import { parseShellFile } from './shell-file.ts'
import { StartRefusedError } from './start-refused.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Script that runs every command of this repository by name. */
const launcher = fileURLToPath(new URL('../../start.mjs', import.meta.url))

/**
 * Returns the environment of an installation on the real engines of this machine. Engines that are not running are started, and
 * keep running after the installation stops. Variables in `environment` take precedence. The data folder is inside the folder of
 * the engines, so that it is separate from an embedded installation.
 */
export async function engineEnvironment(
  environment: Environment,
  say: (line: string) => void,
): Promise<Environment> {
  const root = resolve(readSettings(engineSettings, environment).root)
  if (!(await startEngines(environment, say))) {
    throw new StartRefusedError(
      'Not all engines are running: see above. For details, use npm run engines:status.',
    )
  }
  const engines = parseShellFile(await readFile(join(root, 'engines.env'), 'utf8'))
  return { TOLLGATE_DATA_DIR: join(root, 'tollgate'), ...engines, ...environment }
}

/** Runs `npm run engines:up`. Returns whether all engines are running. If not, the command has printed the reason. */
async function startEngines(
  environment: Environment,
  say: (line: string) => void,
): Promise<boolean> {
  const child = spawn(process.execPath, [launcher, 'engines', 'up'], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const closed = once(child, 'close')
  for await (const line of createInterface({ input: child.stdout })) say(line)
  const [exitCode] = (await closed) as [number | null]
  return exitCode === 0
}
