import { join, resolve } from 'node:path'
import { readFile } from 'node:fs/promises'
import { readSettings } from '@tollgate/platform/config/settings'
import { up } from '../engines/commands.ts'
import { planPorts } from '../engines/port-plan.ts'
import { readShellFile } from '../engines/services-environment.ts'
import { engineSettings } from '../engines/settings.ts'
import { StartRefusedError } from './start-refused.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The environment of an installation on the real engines of this machine, which are started when they do not run and
 * stay when it stops. What the given environment says itself wins. The installation's own folder lies in that of the
 * engines, so that it never meets the data of an embedded one.
 */
export async function withEngines(
  environment: Environment,
  say: (line: string) => void,
): Promise<Environment> {
  const settings = readSettings(engineSettings, environment)
  const root = resolve(settings.root)
  if (!(await up({ root, say }, planPorts(settings), {}))) {
    throw new StartRefusedError(
      'Not all engines run: see above. npm run engines:status tells more.',
    )
  }
  const engines = readShellFile(await readFile(join(root, 'engines.env'), 'utf8'))
  return { TOLLGATE_DATA_DIR: join(root, 'tollgate'), ...engines, ...environment }
}
