import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { ApiServer } from '../access/api-server.ts'
import { tonesOf, type HexColor, type Tones } from './accent.ts'

const path = '/customer/files/accent'

/** The address contains the color and a digest of the stylesheet, so it changes with both. */
const cacheControl = 'public, max-age=31536000, immutable'

const params = z.object({ file: z.string().regex(/^[0-9a-f]{6}-[0-9a-f]{12}\.css$/) })

/** Serves a stylesheet for each accent color, because the content security policy of the pages forbids inline styles. */
export function registerAccentStylesheet(app: ApiServer): void {
  app.get(`${path}/:file`, { schema: { hide: true, params } }, (request, reply) => {
    const { file } = request.params
    const accent: HexColor = `#${file.slice(0, 6)}`
    // During an upgrade, pages of both versions may request this file. A stylesheet of the other version must not be cached under
    // this address.
    const isCurrent = file === accentFileOf(accent)
    return reply
      .type('text/css; charset=utf-8')
      .header('cache-control', isCurrent ? cacheControl : 'no-store')
      .header('x-content-type-options', 'nosniff')
      .send(stylesheetOf(accent))
  })
}

/** Returns the path of the stylesheet. `accent` is `#rrggbb` in lower case. */
export function accentStylesheetPath(basePath: string, accent: string): string {
  return `${basePath}${path}/${accentFileOf(`#${accent.slice(1)}`)}`
}

function accentFileOf(accent: HexColor): string {
  const digest = createHash('sha256').update(stylesheetOf(accent)).digest('hex').slice(0, 12)
  return `${accent.slice(1)}-${digest}.css`
}

function stylesheetOf(accent: HexColor): string {
  const [light, dark] = (['light', 'dark'] as const).map((scheme) =>
    variablesOf(tonesOf(accent, scheme)),
  )
  return `:root{${light}}@media (prefers-color-scheme:dark){:root{${dark}}}\n`
}

function variablesOf({ main, accent, accentHover, onAccent }: Tones): string {
  return [
    `--main:${main}`,
    `--accent:${accent}`,
    `--accent-hover:${accentHover}`,
    `--on-accent:${onAccent}`,
  ].join(';')
}
