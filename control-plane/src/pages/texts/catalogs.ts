import type { PageLanguage } from '@tollgate/schemas/http/page-locale'
import type { Catalog } from './catalog.ts'
import { checkoutGerman } from './checkout.de.ts'
import { checkoutEnglish } from './checkout.en.ts'
import { checkoutSpanish } from './checkout.es.ts'
import { checkoutFrench } from './checkout.fr.ts'
import { checkoutJapanese } from './checkout.ja.ts'
import { checkoutPortuguese } from './checkout.pt.ts'
import { emailsGerman } from './emails.de.ts'
import { emailsEnglish } from './emails.en.ts'
import { emailsSpanish } from './emails.es.ts'
import { emailsFrench } from './emails.fr.ts'
import { emailsJapanese } from './emails.ja.ts'
import { emailsPortuguese } from './emails.pt.ts'
import { portalGerman } from './portal.de.ts'
import { portalEnglish } from './portal.en.ts'
import { portalSpanish } from './portal.es.ts'
import { portalFrench } from './portal.fr.ts'
import { portalJapanese } from './portal.ja.ts'
import { portalPortuguese } from './portal.pt.ts'
import { sharedGerman } from './shared.de.ts'
import { sharedEnglish } from './shared.en.ts'
import { sharedSpanish } from './shared.es.ts'
import { sharedFrench } from './shared.fr.ts'
import { sharedJapanese } from './shared.ja.ts'
import { sharedPortuguese } from './shared.pt.ts'
import { signInGerman } from './sign-in.de.ts'
import { signInEnglish } from './sign-in.en.ts'
import { signInSpanish } from './sign-in.es.ts'
import { signInFrench } from './sign-in.fr.ts'
import { signInJapanese } from './sign-in.ja.ts'
import { signInPortuguese } from './sign-in.pt.ts'

const english = {
  shared: sharedEnglish,
  checkout: checkoutEnglish,
  portal: portalEnglish,
  signIn: signInEnglish,
  emails: emailsEnglish,
}

export type English = typeof english

/** All texts, by language, area and key. */
export const catalogs = {
  en: english,
  de: {
    shared: sharedGerman,
    checkout: checkoutGerman,
    portal: portalGerman,
    signIn: signInGerman,
    emails: emailsGerman,
  },
  fr: {
    shared: sharedFrench,
    checkout: checkoutFrench,
    portal: portalFrench,
    signIn: signInFrench,
    emails: emailsFrench,
  },
  es: {
    shared: sharedSpanish,
    checkout: checkoutSpanish,
    portal: portalSpanish,
    signIn: signInSpanish,
    emails: emailsSpanish,
  },
  pt: {
    shared: sharedPortuguese,
    checkout: checkoutPortuguese,
    portal: portalPortuguese,
    signIn: signInPortuguese,
    emails: emailsPortuguese,
  },
  ja: {
    shared: sharedJapanese,
    checkout: checkoutJapanese,
    portal: portalJapanese,
    signIn: signInJapanese,
    emails: emailsJapanese,
  },
} satisfies Record<PageLanguage, Record<keyof English, Catalog | object>>
