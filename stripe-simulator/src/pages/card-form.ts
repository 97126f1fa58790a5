import { offeredCards, type OfferedCard } from '../objects/offered-cards.ts'
import { escapeHtml, hiddenFields } from './html.ts'

export type CardFormContent = {
  /** Sentence about what the card is used for. */
  readonly purpose: string
  /** Label of the button that submits the form. */
  readonly submit: string
  /** Message about why the last attempt failed. */
  readonly errorMessage: string | undefined
  /** Parameters that the page needs in its URL and in its form. */
  readonly context: Readonly<Record<string, string>>
  readonly number: string
  readonly month: string
  readonly year: string
  readonly securityCode: string
  /** Whether the submit button gets the focus, because the customer has just chosen a test card. */
  readonly isJustChosen: boolean
}

/** Returns the card form and the list of test cards. The list consists of links, so it needs no script. */
export function cardForm(content: CardFormContent): string {
  const { purpose, submit, errorMessage, context, isJustChosen } = content
  const notice =
    errorMessage === undefined
      ? ''
      : `<p class="notice bad" role="alert">${escapeHtml(errorMessage)}</p>`
  const input = (label: string, name: string, value: string): string =>
    `<label>${label}<input name="${name}" inputmode="numeric" autocomplete="off" value="${escapeHtml(value)}" required></label>`
  return `<p>${escapeHtml(purpose)}</p>
<div class="columns">
<form class="card" method="post">${hiddenFields(context)}
${notice}
${input('Card number', 'number', content.number)}
<div class="card-fields">
${input('Month', 'exp_month', content.month)}
${input('Year', 'exp_year', content.year)}
${input('Security code', 'cvc', content.securityCode)}
</div>
<button class="button main"${isJustChosen ? ' autofocus' : ''}>${escapeHtml(submit)}</button>
</form>
<nav class="card" aria-labelledby="cards">
<h2 id="cards">Test cards</h2>
<p class="quiet">Choose a card to fill the form.</p>
<ul class="offered">
${offeredCards.map((card) => offeredCardItem(card, content)).join('\n')}
</ul>
</nav>
</div>`
}

function offeredCardItem({ name, number, effect }: OfferedCard, content: CardFormContent): string {
  const isChosen = digitsOf(number) === digitsOf(content.number)
  const query = new URLSearchParams({ ...content.context, number }).toString()
  return `<li><a href="?${escapeHtml(query)}"${isChosen ? ' aria-current="true"' : ''}>
<span class="name">${escapeHtml(name)}</span> <span class="number">${number}</span>
<span class="quiet">${escapeHtml(effect)}</span></a></li>`
}

function digitsOf(number: string): string {
  return number.replaceAll(/\D/g, '')
}
