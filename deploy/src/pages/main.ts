import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { madePages } from './made-pages.ts'

/** Writes the pages into the folder given as the first argument. */
for (const [name, text] of Object.entries(await madePages())) {
  await writeFile(join(process.argv[2]!, name), text)
}
