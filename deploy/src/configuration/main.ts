import { writeFile } from 'node:fs/promises'
import { format } from 'prettier'
import { configurationPage } from './configuration-page.ts'

/** Writes the page whose path is the first argument. */
await writeFile(process.argv[2]!, await format(configurationPage(), { parser: 'markdown' }))
