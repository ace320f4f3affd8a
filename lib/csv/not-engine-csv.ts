/**
 * The engine's result file is not in the CSV dialect that the engine writes. The message says what is wrong and where,
 * and quotes nothing from the file, because its values belong to a partner.
 */
export class NotEngineCsv extends Error {
  /**
   * @param offset position of the wrong byte, counted from 0
   * @param column the column of the wrong byte, counted from 0
   */
  constructor(fault: string, offset: number, column: number) {
    super(
      `the engine's result file is not in its CSV dialect: ${fault} (byte ${offset}, column ${column + 1})`,
    );
    this.name = 'NotEngineCsv';
  }
}
