/*
 * Draws how the workspaces, and the folders in each, import each other: docs/graph.md. `--check` writes nothing, and fails where
 * the page is out of date. Files are read by dependency-cruiser, with the options that `npm run imports` has.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { cruise } from 'dependency-cruiser'
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config'
import { format, resolveConfig } from 'prettier'

const root = fileURLToPath(new URL('..', import.meta.url))
const page = `${root}docs/graph.md`
const { workspaces: all } = JSON.parse(await readFile(`${root}package.json`, 'utf8'))
const workspaces = all.filter((workspace) => !workspace.includes('/'))
const { options } = createRequire(import.meta.url)('../.dependency-cruiser.cjs')

const imports = await readImports()
const text = await format(pageOf(imports), { ...(await resolveConfig(page)), parser: 'markdown' })
if (!process.argv.includes('--check')) await writeFile(page, text)
else if ((await readFile(page, 'utf8').catch(() => '')) !== text) {
  console.error('docs/graph.md is out of date: run npm run graph.')
  process.exitCode = 1
}

/** Pairs of files of the repository, without tests. */
async function readImports() {
  process.chdir(root)
  const { tsConfig, ...others } = options
  const folders = workspaces.map((workspace) => `${workspace}/src`)
  const { output } = await cruise(
    folders,
    { ...others, includeOnly: '^[^/]+/src/', exclude: '\\.test\\.ts$|/dist/' },
    { ...others.enhancedResolveOptions },
    { tsConfig: extractTSConfig(tsConfig.fileName) },
  )
  return output.modules.flatMap(({ source, dependencies }) =>
    dependencies.map(({ resolved }) => [source, resolved]),
  )
}

function pageOf(pairs) {
  const workspaceOf = (file) => file.split('/')[0]
  const folderOf = (file) => file.split('/').length > 3 && file.split('/')[2]
  const sections = workspaces.map((workspace) => {
    const own = pairs.filter((pair) => pair.every((file) => workspaceOf(file) === workspace))
    return { workspace, edges: edgesBetween(own, folderOf) }
  })
  return [
    '# Who imports whom',
    'Made by `npm run graph`. An arrow leads from what imports to what is imported. It is left out where a longer way leads ' +
      'there as well. Files directly in `src` (`main.ts`, `service.ts`, `config.ts`) put the folders together and are not drawn; ' +
      'tests are not drawn either, nor is a folder that no arrow touches.',
    '## Workspaces',
    drawing(edgesBetween(pairs, workspaceOf)),
    ...sections
      .filter(({ edges }) => edges.length > 0)
      .flatMap(({ workspace, edges }) => [`## ${workspace}`, drawing(edges)]),
  ].join('\n\n')
}

/** One arrow for each two different names that a pair has. */
function edgesBetween(pairs, nameOf) {
  const found = new Map()
  for (const [from, to] of pairs) {
    const edge = [nameOf(from), nameOf(to)]
    if (edge[0] && edge[1] && edge[0] !== edge[1]) found.set(edge.join(' '), edge)
  }
  return [...found.values()].sort((one, other) => (one.join() < other.join() ? -1 : 1))
}

function drawing(edges) {
  const shown = edges.filter((edge) => !hasLongerWay(edge, edges))
  return [
    '```mermaid',
    'flowchart TD',
    ...shown.map((edge) => `  ${edge.join(' --> ')}`),
    '```',
  ].join('\n')
}

function hasLongerWay([from, to], edges) {
  const reached = new Set()
  const open = edges.filter(([start, end]) => start === from && end !== to).map(([, end]) => end)
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at === to) return true
    if (reached.has(at) || at === from) continue
    reached.add(at)
    open.push(...edges.filter(([start]) => start === at).map(([, end]) => end))
  }
  return false
}
