import {
  createCommandLine,
  finishCommandLine,
  runCommandLine,
} from '@tollgate/platform/cli/command-line'
import { explainError } from '@tollgate/platform/cli/explain-error'
import { readSettings } from '@tollgate/platform/config/settings'
import { addManagementCommands } from './program.ts'
import { cliSettings } from './settings.ts'

/** The operator's command line in installations that contain only the services, as in the image. */
const { program, output } = createCommandLine('tollgate')
program.description('Manage providers, their secret keys and the users of their console')
addManagementCommands(program, async (run) => {
  const { withCliParts } = await import('./open-cli-parts.ts')
  await withCliParts(readSettings(cliSettings, process.env), output, run)
})
finishCommandLine(program)
await runCommandLine(program, explainError)
