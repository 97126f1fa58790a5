import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generatedPages } from './generated-pages.ts'

/** Writes the pages into the folder given as the first argument. */
for (const [name, text] of Object.entries(await generatedPages())) {
  await writeFile(join(process.argv[2]!, name), text)
}
