import { format } from 'prettier'
import { cliPage } from './cli-page.ts'
import { configurationPage } from './configuration-page.ts'
import { errorsPage } from './errors-page.ts'
import { eventsPage } from './events-page.ts'

/** Returns the generated pages of `docs` by file name. */
export async function generatedPages(): Promise<Readonly<Record<string, string>>> {
  return {
    'cli.md': await format(cliPage(), { parser: 'markdown' }),
    'configuration.md': await format(configurationPage(), { parser: 'markdown' }),
    'errors.md': await format(errorsPage(), { parser: 'markdown' }),
    'events.md': await format(eventsPage(), { parser: 'markdown' }),
  }
}
