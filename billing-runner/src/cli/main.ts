import {
  createCommandLine,
  finishCommandLine,
  runCommandLine,
} from '@tollgate/platform/cli/command-line'
import { explainError } from '@tollgate/platform/cli/explain-error'
import { billingActions } from './actions.ts'
import { addBillingCommands } from './program.ts'

/** The billing commands where only services are installed, as in the image. */
const { program, output } = createCommandLine('tollgate')
program.description('Run billing jobs, reconcile and restore usage')
addBillingCommands(
  program,
  billingActions(output, () => Promise.resolve(process.env)),
)
finishCommandLine(program)
await runCommandLine(program, explainError)
