import { readFileSync } from 'node:fs'
import type { JsonObject } from '@tollgate/schemas/json-object'
import { accountViewUri, appMimeType } from './apps-extension.ts'

/** The view is one file, because MCP clients load no other resource for a view and allow it no network access. */
const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Account</title>
<style>${readPart('account-view.css')}</style>
</head>
<body>
<main>
<h1 id="title" hidden></h1>
<p id="plan" hidden></p>
<p id="usage" class="quiet" hidden></p>
<ul id="plans" hidden></ul>
<button id="open" type="button" hidden></button>
<p id="status" role="status" class="quiet" hidden></p>
<p id="address" hidden></p>
</main>
<script type="module">${readPart('account-view.js')}</script>
</body>
</html>
`

const noDomains = { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] }

const _meta = { ui: { csp: noDomains, prefersBorder: true } }

/** The view as listed in `resources/list`. */
export const accountViewResource: JsonObject = {
  uri: accountViewUri,
  name: 'account',
  title: 'Plans and account',
  description: 'Shows the plan of the customer, and leads to the page where it can be changed.',
  mimeType: appMimeType,
  _meta,
}

/** Contents that `resources/read` returns for the view. They are the same for all customers. */
export const accountViewContents: readonly JsonObject[] = [
  { uri: accountViewUri, mimeType: appMimeType, text: html, _meta },
]

function readPart(name: string): string {
  return readFileSync(new URL(`../../public/${name}`, import.meta.url), 'utf8')
}
