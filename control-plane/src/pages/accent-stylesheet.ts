import { z } from 'zod'
import type { ApiServer } from '../http/api-server.ts'
import { tonesOf, type HexColor, type Tones } from './accent.ts'

const path = '/customer/files/accent'

/** The colour is all that the stylesheet depends on. */
const cacheControl = 'public, max-age=31536000, immutable'

const params = z.object({ file: z.string().regex(/^[0-9a-f]{6}\.css$/) })

/** Serves the colours of any accent: the policy of the pages allows no style inside them. */
export function registerAccentStylesheet(app: ApiServer): void {
  app.get(`${path}/:file`, { schema: { hide: true, params } }, (request, reply) =>
    reply
      .type('text/css; charset=utf-8')
      .header('cache-control', cacheControl)
      .header('x-content-type-options', 'nosniff')
      .send(stylesheetOf(`#${request.params.file.slice(0, 6)}`)),
  )
}

export function accentStylesheetPath(basePath: string, accent: string): string {
  return `${basePath}${path}/${accent.slice(1)}.css`
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
