import type { Owner } from '../report/catalogue.ts';

const wordsOf = (owner: Owner): string[] => owner.split(/(?=[A-Z])/).map((word) => word.toLowerCase());

/** The option that takes an owner's companies: `publisher-companies`. */
export const optionOf = (owner: Owner): string => wordsOf(owner).join('-');

/** The words for an owner's companies in texts for people: `publisher companies`. */
export const labelOf = (owner: Owner): string => wordsOf(owner).join(' ');
