/* The view of the tools that lead to a hosted page. It runs in the sandboxed frame of an MCP client, without network, and
   speaks MCP Apps (2026-01-26) with the client by messages. Everything it shows comes from the result of the tool. */

const protocolVersion = '2026-01-26'

const catalog = {
  en: {
    upgrade: 'Plans of {product}',
    account: 'Your account for {product}',
    current: 'Your plan: {plan}',
    none: 'You have no plan yet.',
    left: 'Calls left: {remaining} of {total}',
    choose: 'Choose a plan',
    manage: 'Manage the account',
    opened: 'The page is open in your browser. Sign in there to go on.',
    address: 'Open this address in your browser:',
    failed: 'This is not available now. Try again later.',
    free: 'Free',
    perUse: 'Pay per use',
    weekly: '{price} per week',
    monthly: '{price} per month',
    quarterly: '{price} per quarter',
    yearly: '{price} per year',
    calls: 'Calls: {count}',
  },
  de: {
    upgrade: 'Tarife von {product}',
    account: 'Ihr Konto für {product}',
    current: 'Ihr Tarif: {plan}',
    none: 'Sie haben noch keinen Tarif.',
    left: 'Verbleibende Aufrufe: {remaining} von {total}',
    choose: 'Tarif wählen',
    manage: 'Konto verwalten',
    opened: 'Die Seite ist in Ihrem Browser geöffnet. Melden Sie sich dort an, um fortzufahren.',
    address: 'Öffnen Sie diese Adresse in Ihrem Browser:',
    failed: 'Das ist gerade nicht möglich. Versuchen Sie es später erneut.',
    free: 'Kostenlos',
    perUse: 'Zahlung nach Nutzung',
    weekly: '{price} pro Woche',
    monthly: '{price} pro Monat',
    quarterly: '{price} pro Quartal',
    yearly: '{price} pro Jahr',
    calls: 'Aufrufe: {count}',
  },
  es: {
    upgrade: 'Planes de {product}',
    account: 'Su cuenta de {product}',
    current: 'Su plan: {plan}',
    none: 'Todavía no tiene ningún plan.',
    left: 'Llamadas restantes: {remaining} de {total}',
    choose: 'Elegir un plan',
    manage: 'Gestionar la cuenta',
    opened: 'La página está abierta en su navegador. Inicie sesión allí para continuar.',
    address: 'Abra esta dirección en su navegador:',
    failed: 'Ahora no está disponible. Inténtelo más tarde.',
    free: 'Gratis',
    perUse: 'Pago por uso',
    weekly: '{price} por semana',
    monthly: '{price} al mes',
    quarterly: '{price} por trimestre',
    yearly: '{price} al año',
    calls: 'Llamadas: {count}',
  },
  fr: {
    upgrade: 'Offres de {product}',
    account: 'Votre compte pour {product}',
    current: 'Votre offre : {plan}',
    none: 'Vous n’avez pas encore d’offre.',
    left: 'Appels restants : {remaining} sur {total}',
    choose: 'Choisir une offre',
    manage: 'Gérer le compte',
    opened: 'La page est ouverte dans votre navigateur. Connectez-vous pour continuer.',
    address: 'Ouvrez cette adresse dans votre navigateur :',
    failed: 'Ce n’est pas disponible pour le moment. Réessayez plus tard.',
    free: 'Gratuit',
    perUse: 'Paiement à l’usage',
    weekly: '{price} par semaine',
    monthly: '{price} par mois',
    quarterly: '{price} par trimestre',
    yearly: '{price} par an',
    calls: 'Appels : {count}',
  },
  ja: {
    upgrade: '{product} のプラン',
    account: '{product} のアカウント',
    current: '現在のプラン：{plan}',
    none: 'プランはまだありません。',
    left: '残り {remaining} / {total} 回',
    choose: 'プランを選ぶ',
    manage: 'アカウントを管理',
    opened: 'ブラウザーでページを開きました。サインインして続けてください。',
    address: 'このアドレスをブラウザーで開いてください：',
    failed: '現在は利用できません。しばらくしてからもう一度お試しください。',
    free: '無料',
    perUse: '従量課金',
    weekly: '{price} / 週',
    monthly: '{price} / 月',
    quarterly: '{price} / 四半期',
    yearly: '{price} / 年',
    calls: '{count} 回',
  },
  pt: {
    upgrade: 'Planos de {product}',
    account: 'Sua conta de {product}',
    current: 'Seu plano: {plan}',
    none: 'Você ainda não tem um plano.',
    left: 'Chamadas restantes: {remaining} de {total}',
    choose: 'Escolher um plano',
    manage: 'Gerenciar a conta',
    opened: 'A página está aberta no seu navegador. Entre nela para continuar.',
    address: 'Abra este endereço no seu navegador:',
    failed: 'Isto não está disponível agora. Tente novamente mais tarde.',
    free: 'Grátis',
    perUse: 'Pagamento por uso',
    weekly: '{price} por semana',
    monthly: '{price} por mês',
    quarterly: '{price} por trimestre',
    yearly: '{price} por ano',
    calls: 'Chamadas: {count}',
  },
}

const element = (id) => document.getElementById(id)
const waiting = new Map()
let requests = 0
let locale = navigator.language
let canOpenLinks = false
/** The structured content of the tool's result; undefined until it is there. */
let shown
let url

function post(message) {
  window.parent.postMessage({ jsonrpc: '2.0', ...message }, '*')
}

function request(method, params) {
  requests += 1
  const id = requests
  post({ id, method, params })
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }))
}

function text(name, values = {}) {
  const texts = catalog[locale.slice(0, 2).toLowerCase()] ?? catalog.en
  return texts[name].replace(/\{(\w+)\}/g, (_, key) => String(values[key]))
}

function write(id, content) {
  element(id).textContent = content
  element(id).hidden = content === ''
}

/** Amounts are in minor units of their currency. */
function priceText({ price, currency, billingCycle, type }) {
  if (type === 'usage-based') return text('perUse')
  if (price === 0) return text('free')
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency })
  const amount = format.format(price / 10 ** format.resolvedOptions().maximumFractionDigits)
  return billingCycle === undefined ? amount : text(billingCycle, { price: amount })
}

function priceOf(plan) {
  try {
    return priceText(plan)
  } catch {
    // A cycle or a currency that this view does not know: the checkout shows the price.
    return ''
  }
}

function planItem(plan) {
  const item = document.createElement('li')
  const add = (tag, content, className) => {
    const part = document.createElement(tag)
    part.textContent = content
    if (className !== undefined) part.className = className
    item.append(part)
  }
  add('span', plan.name)
  add('span', priceOf(plan), 'price')
  if (plan.units !== undefined) add('small', text('calls', { count: number(plan.units) }))
  return item
}

function number(value) {
  return new Intl.NumberFormat(locale).format(value)
}

function render() {
  document.documentElement.lang = locale.slice(0, 2)
  if (shown === undefined) return
  const { kind, product, current, plans } = shown
  write('title', text(kind, { product }))
  write('plan', current === null ? text('none') : text('current', { plan: current.plan }))
  const usage = current?.usage
  const counts = usage && { remaining: number(usage.remaining), total: number(usage.total) }
  write('usage', counts === undefined ? '' : text('left', counts))
  element('plans').replaceChildren(...plans.map(planItem))
  element('plans').hidden = plans.length === 0
  write('open', canOpenLinks ? text(kind === 'account' ? 'manage' : 'choose') : '')
  if (!canOpenLinks) showAddress()
}

function showAddress() {
  write('status', text('address'))
  write('address', url)
}

/** Shows the result of the tool. Only addresses of web pages are opened. */
function onResult({ structuredContent, isError }) {
  const given = structuredContent?.url
  const isPage = typeof given === 'string' && /^https?:\/\//.test(given)
  if (isError === true || !isPage) return write('status', text('failed'))
  shown = structuredContent
  url = given
  render()
}

async function openPage() {
  const button = element('open')
  button.disabled = true
  try {
    const answer = await request('ui/open-link', { url })
    if (answer.isError === true) showAddress()
    else write('status', text('opened'))
  } catch {
    showAddress()
  }
  button.disabled = false
}

function onContext(context) {
  const { theme, styles } = context
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
  const font = styles?.variables?.['--font-sans']
  if (typeof font === 'string') document.documentElement.style.setProperty('--font-sans', font)
  if (typeof context.locale === 'string' && context.locale !== '') locale = context.locale
  render()
}

function onCall({ id, method, params = {} }) {
  switch (method) {
    case 'ui/notifications/tool-result':
      return onResult(params)
    case 'ui/notifications/tool-cancelled':
      return write('status', text('failed'))
    case 'ui/notifications/host-context-changed':
      return onContext(params)
    case 'ping':
    case 'ui/resource-teardown':
      return post({ id, result: {} })
    default:
      if (id === undefined) return undefined
      return post({ id, error: { code: -32601, message: 'Method not found' } })
  }
}

addEventListener('message', ({ source, data }) => {
  if (source !== window.parent || data?.jsonrpc !== '2.0') return
  if (typeof data.method === 'string') return onCall(data)
  const { resolve, reject } = waiting.get(data.id) ?? {}
  waiting.delete(data.id)
  if (data.error !== undefined) reject?.(new Error(data.error.message))
  else resolve?.(data.result)
})

element('open').addEventListener('click', () => void openPage())

let lastHeight = 0
new ResizeObserver(() => {
  const height = Math.ceil(document.body.getBoundingClientRect().height)
  if (height === lastHeight) return
  lastHeight = height
  post({ method: 'ui/notifications/size-changed', params: { height } })
}).observe(document.body)

async function start() {
  const { hostCapabilities = {}, hostContext = {} } = await request('ui/initialize', {
    appInfo: { name: 'tollgate-account', version: '1.0.0' },
    appCapabilities: { availableDisplayModes: ['inline'] },
    protocolVersion,
  })
  canOpenLinks = hostCapabilities.openLinks !== undefined
  onContext(hostContext)
  post({ method: 'ui/notifications/initialized' })
}

void start()
