/**
 * The engine's result file is not in the CSV dialect that the engine writes. The message says what is wrong and where,
 * and shows nothing of the file: its values belong to a partner.
 */
export class NotEngineCsv extends Error {
  /**
   * @param offset of the byte that is wrong, counted from 0
   * @param column where that is in its row, counted from 0
   */
  constructor(fault: string, offset: number, column: number) {
    super(
      `the engine's result file is not in its CSV dialect: ${fault} (byte ${offset}, column ${column + 1})`,
    );
    this.name = 'NotEngineCsv';
  }
}
