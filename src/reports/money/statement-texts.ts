import type { Language } from '../../core/text/language.ts';

/** All texts of a statement for a creator. A language without one of them does not compile. */
export type StatementTexts = {
  readonly title: (month: string) => string;
  readonly draft: string;
  readonly period: string;
  readonly closed: string;
  readonly brand: string;
  readonly creator: string;
  readonly deal: string;
  readonly currency: string;
  readonly explained: (days: number, month: string, zone: string) => string;
  readonly nothing: string;
  readonly summary: string;
  readonly orders: string;
  readonly netRevenue: string;
  readonly commission: string;
  readonly corrections: string;
  readonly fees: string;
  readonly toPay: string;
  readonly atLeast: (amount: string) => string;
  readonly day: string;
  readonly order: string;
  readonly excluded: string;
  readonly rate: string;
  readonly terms: string;
  /** Before the line of terms.csv: `line 2`. */
  readonly termsLine: string;
  readonly carried: string;
  readonly carriedAbout: string;
  readonly minimum: string;
  readonly earned: string;
  readonly linesAbout: string;
  readonly before: string;
  readonly now: string;
  readonly change: string;
  readonly why: string;
  readonly correctionsAbout: string;
  readonly refunded: (before: string, now: string) => string;
  readonly raised: (before: string, now: string) => string;
  readonly rateChanged: (before: string, now: string) => string;
  readonly feeChanged: string;
  readonly recalculated: string;
  readonly fee: string;
  readonly pending: string;
  readonly pendingAbout: (days: number) => string;
  readonly wouldEarn: string;
  readonly unknown: string;
  readonly review: string;
  readonly reviewAbout: string;
  readonly notice: string;
  readonly lossy: string;
  readonly mailSubject: (brand: string, month: string) => string;
  readonly mailBody: (month: string) => string;
};

/** French `de` before a month: `de mai 2026`, `d’avril 2026`. */
function frenchOf(month: string): string {
  return /^[aeiouhé]/i.test(month) ? `d’${month}` : `de ${month}`;
}

export const STATEMENT_TEXTS: Readonly<Record<Language, StatementTexts>> = {
  en: {
    title: (month) => `Statement for ${month}`,
    draft: 'Draft: the amounts may still change.',
    period: 'Period',
    closed: 'Closed on',
    brand: 'Brand',
    creator: 'Creator',
    deal: 'Deal',
    currency: 'Currency',
    explained: (days, month, zone) =>
      `An order counts ${days} days after it was placed, when it can no longer be returned. This statement has the orders that counted by the end of ${month} (time zone ${zone}) and are in no earlier statement, and corrections of earlier statements.`,
    nothing: 'No order counts in this month, and there is nothing to correct.',
    summary: 'Summary',
    orders: 'Orders',
    netRevenue: 'Net revenue',
    commission: 'Commission',
    corrections: 'Corrections',
    fees: 'Fees',
    toPay: 'To pay',
    atLeast: (amount) => `at least ${amount}`,
    day: 'Date',
    order: 'Order',
    excluded: 'Excluded',
    rate: 'Rate',
    terms: 'Terms',
    termsLine: 'line',
    carried: 'Carried forward',
    carriedAbout: 'This amount is below the minimum payout. It is carried forward to the next statement.',
    minimum: 'Minimum payout',
    earned: 'Commission',
    linesAbout:
      'Net revenue is what is left of the order after refunds and cancellations. Excluded products earn no commission.',
    before: 'Before',
    now: 'Now',
    change: 'Difference',
    why: 'Why',
    correctionsAbout: 'These were in an earlier statement, and something changed since.',
    refunded: (before, now) => `refunded or cancelled: net revenue ${before}, now ${now}`,
    raised: (before, now) => `corrected by the shop: net revenue ${before}, now ${now}`,
    rateChanged: (before, now) => `rate changed from ${before} to ${now}`,
    feeChanged: 'the agreed fee changed',
    recalculated: 'calculated again',
    fee: 'Fixed fee',
    pending: 'Pending',
    pendingAbout: (days) =>
      `An order counts ${days} days after it was placed, when it can no longer be returned. These count in a later statement.`,
    wouldEarn: 'Would earn',
    unknown: 'unknown',
    review: 'Under review',
    reviewAbout: 'It is not settled yet what these orders earn. They will be in a later statement.',
    notice:
      'This statement informs you of what you have earned. It is not an invoice and not tax advice. It contains no VAT or other tax.',
    lossy: 'Some characters cannot be printed here and are shown as ?.',
    mailSubject: (brand, month) => `${brand}: your statement for ${month}`,
    mailBody: (month) =>
      `Hello,\n\nAttached is your statement for ${month}. If something is missing or wrong, reply to this message.`,
  },
  de: {
    title: (month) => `Abrechnung für ${month}`,
    draft: 'Entwurf: Die Beträge können sich noch ändern.',
    period: 'Zeitraum',
    closed: 'Abgeschlossen am',
    brand: 'Marke',
    creator: 'Creator',
    deal: 'Deal',
    currency: 'Währung',
    explained: (days, month, zone) =>
      `Eine Bestellung zählt ${days} Tage, nachdem sie aufgegeben wurde: Dann kann sie nicht mehr zurückgegeben werden. Diese Abrechnung enthält die Bestellungen, die bis Ende ${month} zählten (Zeitzone ${zone}) und in keiner früheren Abrechnung stehen, und Korrekturen früherer Abrechnungen.`,
    nothing: 'In diesem Monat zählt keine Bestellung, und es gibt nichts zu korrigieren.',
    summary: 'Zusammenfassung',
    orders: 'Bestellungen',
    netRevenue: 'Nettoumsatz',
    commission: 'Provision',
    corrections: 'Korrekturen',
    fees: 'Honorare',
    toPay: 'Auszuzahlen',
    atLeast: (amount) => `mindestens ${amount}`,
    day: 'Datum',
    order: 'Bestellung',
    excluded: 'Ausgenommen',
    rate: 'Satz',
    terms: 'Konditionen',
    termsLine: 'Zeile',
    carried: 'Vorgetragen',
    carriedAbout:
      'Dieser Betrag liegt unter dem Mindestbetrag für Auszahlungen. Er wird in die nächste Abrechnung übernommen.',
    minimum: 'Mindestbetrag',
    earned: 'Provision',
    linesAbout:
      'Nettoumsatz ist, was nach Erstattungen und Stornierungen von der Bestellung bleibt. Ausgenommene Produkte bringen keine Provision.',
    before: 'Bisher',
    now: 'Jetzt',
    change: 'Differenz',
    why: 'Grund',
    correctionsAbout: 'Diese waren in einer früheren Abrechnung, und seitdem hat sich etwas geändert.',
    refunded: (before, now) => `erstattet oder storniert: Nettoumsatz ${before}, jetzt ${now}`,
    raised: (before, now) => `vom Shop berichtigt: Nettoumsatz ${before}, jetzt ${now}`,
    rateChanged: (before, now) => `Satz geändert von ${before} auf ${now}`,
    feeChanged: 'das vereinbarte Honorar hat sich geändert',
    recalculated: 'neu berechnet',
    fee: 'Festes Honorar',
    pending: 'Ausstehend',
    pendingAbout: (days) =>
      `Eine Bestellung zählt ${days} Tage, nachdem sie aufgegeben wurde, wenn sie nicht mehr zurückgegeben werden kann. Diese zählen in einer späteren Abrechnung.`,
    wouldEarn: 'Ergäbe',
    unknown: 'unbekannt',
    review: 'In Prüfung',
    reviewAbout:
      'Was diese Bestellungen ergeben, steht noch nicht fest. Sie kommen in eine spätere Abrechnung.',
    notice:
      'Diese Abrechnung teilt Ihnen mit, was Sie verdient haben. Sie ist keine Rechnung und keine Steuerberatung. Sie enthält keine Umsatzsteuer oder andere Steuern.',
    lossy: 'Einige Zeichen können hier nicht gedruckt werden und erscheinen als ?.',
    mailSubject: (brand, month) => `${brand}: Ihre Abrechnung für ${month}`,
    mailBody: (month) =>
      `Guten Tag,\n\nanbei erhalten Sie Ihre Abrechnung für ${month}. Falls etwas fehlt oder nicht stimmt, antworten Sie auf diese Nachricht.`,
  },
  fr: {
    title: (month) => `Relevé ${frenchOf(month)}`,
    draft: 'Projet : les montants peuvent encore changer.',
    period: 'Période',
    closed: 'Clôturé le',
    brand: 'Marque',
    creator: 'Créateur',
    deal: 'Contrat',
    currency: 'Devise',
    explained: (days, month, zone) =>
      `Une commande compte ${days} jours après avoir été passée, quand elle ne peut plus être retournée. Ce relevé contient les commandes qui comptaient avant la fin du mois (${month}, fuseau horaire ${zone}) et ne figurent dans aucun relevé précédent, et les corrections de relevés précédents.`,
    nothing: 'Aucune commande ne compte ce mois-ci, et il n’y a rien à corriger.',
    summary: 'Récapitulatif',
    orders: 'Commandes',
    netRevenue: 'Revenu net',
    commission: 'Commission',
    corrections: 'Corrections',
    fees: 'Forfaits',
    toPay: 'À payer',
    atLeast: (amount) => `au moins ${amount}`,
    day: 'Date',
    order: 'Commande',
    excluded: 'Exclu',
    rate: 'Taux',
    terms: 'Conditions',
    termsLine: 'ligne',
    carried: 'Reporté',
    carriedAbout: 'Ce montant est inférieur au minimum de paiement. Il est reporté sur le prochain relevé.',
    minimum: 'Minimum de paiement',
    earned: 'Commission',
    linesAbout:
      'Le revenu net est ce qui reste de la commande après remboursements et annulations. Les produits exclus ne donnent pas de commission.',
    before: 'Avant',
    now: 'Maintenant',
    change: 'Différence',
    why: 'Raison',
    correctionsAbout: 'Ces éléments figuraient dans un relevé précédent et ont changé depuis.',
    refunded: (before, now) => `remboursée ou annulée : revenu net ${before}, maintenant ${now}`,
    raised: (before, now) => `corrigée par la boutique : revenu net ${before}, maintenant ${now}`,
    rateChanged: (before, now) => `taux modifié de ${before} à ${now}`,
    feeChanged: 'le forfait convenu a changé',
    recalculated: 'recalculé',
    fee: 'Forfait',
    pending: 'En attente',
    pendingAbout: (days) =>
      `Une commande compte ${days} jours après avoir été passée, quand elle ne peut plus être retournée. Celles-ci comptent dans un relevé ultérieur.`,
    wouldEarn: 'Donnerait',
    unknown: 'inconnu',
    review: 'En cours de vérification',
    reviewAbout:
      'Ce que rapportent ces commandes n’est pas encore établi. Elles figureront dans un relevé ultérieur.',
    notice:
      'Ce relevé vous informe de ce que vous avez gagné. Il n’est ni une facture ni un conseil fiscal. Il ne contient ni TVA ni autre taxe.',
    lossy: 'Certains caractères ne peuvent pas être imprimés ici et apparaissent comme ?.',
    mailSubject: (brand, month) => `${brand} : votre relevé ${frenchOf(month)}`,
    mailBody: (month) =>
      `Bonjour,\n\nVous trouverez ci-joint votre relevé ${frenchOf(month)}. S’il manque quelque chose ou s’il y a une erreur, répondez à ce message.`,
  },
  es: {
    title: (month) => `Liquidación de ${month}`,
    draft: 'Borrador: los importes aún pueden cambiar.',
    period: 'Período',
    closed: 'Cerrada el',
    brand: 'Marca',
    creator: 'Creador',
    deal: 'Acuerdo',
    currency: 'Moneda',
    explained: (days, month, zone) =>
      `Un pedido cuenta ${days} días después de realizarse, cuando ya no se puede devolver. Esta liquidación contiene los pedidos que contaban hasta el final de ${month} (zona horaria ${zone}) y no están en ninguna liquidación anterior, y correcciones de liquidaciones anteriores.`,
    nothing: 'Ningún pedido cuenta este mes y no hay nada que corregir.',
    summary: 'Resumen',
    orders: 'Pedidos',
    netRevenue: 'Ingresos netos',
    commission: 'Comisión',
    corrections: 'Correcciones',
    fees: 'Honorarios',
    toPay: 'A pagar',
    atLeast: (amount) => `al menos ${amount}`,
    day: 'Fecha',
    order: 'Pedido',
    excluded: 'Excluido',
    rate: 'Tasa',
    terms: 'Condiciones',
    termsLine: 'línea',
    carried: 'Pendiente de pago',
    carriedAbout: 'Este importe es inferior al pago mínimo. Pasa a la siguiente liquidación.',
    minimum: 'Pago mínimo',
    earned: 'Comisión',
    linesAbout:
      'Los ingresos netos son lo que queda del pedido tras reembolsos y cancelaciones. Los productos excluidos no generan comisión.',
    before: 'Antes',
    now: 'Ahora',
    change: 'Diferencia',
    why: 'Motivo',
    correctionsAbout: 'Estaban en una liquidación anterior y algo ha cambiado desde entonces.',
    refunded: (before, now) => `reembolsado o cancelado: ingresos netos ${before}, ahora ${now}`,
    raised: (before, now) => `corregido por la tienda: ingresos netos ${before}, ahora ${now}`,
    rateChanged: (before, now) => `tasa cambiada de ${before} a ${now}`,
    feeChanged: 'han cambiado los honorarios acordados',
    recalculated: 'calculado de nuevo',
    fee: 'Honorario fijo',
    pending: 'Pendiente',
    pendingAbout: (days) =>
      `Un pedido cuenta ${days} días después de realizarse, cuando ya no se puede devolver. Estos cuentan en una liquidación posterior.`,
    wouldEarn: 'Generaría',
    unknown: 'desconocido',
    review: 'En revisión',
    reviewAbout: 'Aún no está claro lo que generan estos pedidos. Estarán en una liquidación posterior.',
    notice:
      'Esta liquidación le informa de lo que ha ganado. No es una factura ni asesoramiento fiscal. No contiene IVA ni otros impuestos.',
    lossy: 'Algunos caracteres no se pueden imprimir aquí y aparecen como ?.',
    mailSubject: (brand, month) => `${brand}: su liquidación de ${month}`,
    mailBody: (month) =>
      `Hola:\n\nAdjuntamos su liquidación de ${month}. Si falta algo o hay un error, responda a este mensaje.`,
  },
  nl: {
    title: (month) => `Afrekening van ${month}`,
    draft: 'Concept: de bedragen kunnen nog veranderen.',
    period: 'Periode',
    closed: 'Afgesloten op',
    brand: 'Merk',
    creator: 'Creator',
    deal: 'Deal',
    currency: 'Valuta',
    explained: (days, month, zone) =>
      `Een bestelling telt ${days} dagen nadat zij is geplaatst, als zij niet meer kan worden geretourneerd. Deze afrekening bevat de bestellingen die tot eind ${month} telden (tijdzone ${zone}) en in geen eerdere afrekening staan, en correcties van eerdere afrekeningen.`,
    nothing: 'In deze maand telt geen bestelling, en er valt niets te corrigeren.',
    summary: 'Samenvatting',
    orders: 'Bestellingen',
    netRevenue: 'Netto-omzet',
    commission: 'Commissie',
    corrections: 'Correcties',
    fees: 'Vergoedingen',
    toPay: 'Te betalen',
    atLeast: (amount) => `ten minste ${amount}`,
    day: 'Datum',
    order: 'Bestelling',
    excluded: 'Uitgesloten',
    rate: 'Percentage',
    terms: 'Voorwaarden',
    termsLine: 'regel',
    carried: 'Doorgeschoven',
    carriedAbout:
      'Dit bedrag is lager dan het minimum voor uitbetaling. Het gaat mee naar de volgende afrekening.',
    minimum: 'Minimum',
    earned: 'Commissie',
    linesAbout:
      'Netto-omzet is wat er van de bestelling overblijft na terugbetalingen en annuleringen. Uitgesloten producten leveren geen commissie op.',
    before: 'Eerder',
    now: 'Nu',
    change: 'Verschil',
    why: 'Reden',
    correctionsAbout: 'Deze stonden in een eerdere afrekening, en sindsdien is er iets veranderd.',
    refunded: (before, now) => `terugbetaald of geannuleerd: netto-omzet ${before}, nu ${now}`,
    raised: (before, now) => `gecorrigeerd door de winkel: netto-omzet ${before}, nu ${now}`,
    rateChanged: (before, now) => `percentage gewijzigd van ${before} naar ${now}`,
    feeChanged: 'de afgesproken vergoeding is veranderd',
    recalculated: 'opnieuw berekend',
    fee: 'Vaste vergoeding',
    pending: 'In afwachting',
    pendingAbout: (days) =>
      `Een bestelling telt ${days} dagen nadat zij is geplaatst, wanneer zij niet meer kan worden geretourneerd. Deze tellen in een latere afrekening.`,
    wouldEarn: 'Zou opleveren',
    unknown: 'onbekend',
    review: 'In onderzoek',
    reviewAbout:
      'Het staat nog niet vast wat deze bestellingen opleveren. Zij komen in een latere afrekening.',
    notice:
      'Deze afrekening laat u weten wat u hebt verdiend. Het is geen factuur en geen belastingadvies. Er is geen btw of andere belasting in opgenomen.',
    lossy: 'Sommige tekens kunnen hier niet worden afgedrukt en staan er als ?.',
    mailSubject: (brand, month) => `${brand}: uw afrekening van ${month}`,
    mailBody: (month) =>
      `Hallo,\n\nBijgevoegd vindt u uw afrekening van ${month}. Ontbreekt er iets of klopt er iets niet, beantwoord dan dit bericht.`,
  },
};
