//! Tests of the columns of all experiments.

use super::columns::COLUMNS;
use crate::catalogue::COMMANDS;
use latency_report::Field;
use std::collections::BTreeSet;

/// Words that must be quoted as a column in DuckDB, PostgreSQL, SQLite, MySQL or BigQuery.
///
/// # References
///
/// PostgreSQL 17, "SQL Key Words" (appendix C), the reserved ones; DuckDB, `duckdb_keywords()`, category `reserved`;
/// BigQuery, "Lexical structure and syntax", reserved keywords; MySQL 8.4, "Keywords and Reserved Words";
/// SQLite, "SQLite Keywords", those that its parser takes for nothing else.
const RESERVED: &str = "accessible add all alter analyse analyze and any array as asc asensitive assert_rows_modified \
    asymmetric at authorization before between bigint binary blob both by call cascade case cast change char \
    character check collate collation column commit concurrently condition constraint contains continue convert \
    create cross cube cume_dist current current_catalog current_date current_role current_schema current_time \
    current_timestamp current_user cursor database databases dec decimal declare default deferrable define delayed \
    delete dense_rank desc describe deterministic distinct distinctrow div do double drop dual each else elseif \
    empty enclosed end enum escape escaped except exclude exists exit explain extract false fetch first_value float \
    following for force foreign freeze from full fulltext function generated get glob grant group grouping groups \
    hash having high_priority if ignore ilike in index infile initially inner inout insensitive insert int integer \
    intersect interval into is isnull iterate join json_table key keys kill lag lambda last_value lateral lead \
    leading leave left like limit linear load localtime localtimestamp lock long loop low_priority match maxvalue \
    merge mod modifies natural new no not notnull nth_value ntile null nulls numeric of offset on only optimize \
    option optionally or order out outer outfile over overlaps partition percent_rank pivot pivot_longer \
    pivot_wider placing precision preceding primary procedure proto purge qualify range rank read reads real \
    recursive references regexp release rename repeat replace require resignal restrict return returning revoke \
    right rlike row row_number schema schemas select sensitive separator session_user set show signal similar \
    smallint some spatial specific sql ssl starting stored straight_join struct summarize symmetric system \
    system_user table tablesample terminated then tinyblob to trailing transaction treat trigger true unbounded \
    undo union unique unlock unnest unpivot unsigned update usage use user using values varbinary varchar varying \
    variadic verbose virtual when where while window with within without write xor zerofill";

fn names(groups: &[&[Field]]) -> std::vec::Vec<&'static str> {
    groups.iter().copied().flatten().map(|field| field.key).collect()
}

#[test]
fn no_column_is_a_reserved_word_of_a_database() {
    let reserved: BTreeSet<&str> = RESERVED.split_whitespace().collect();
    for groups in COMMANDS.iter().map(|command| command.columns).chain([[COLUMNS, &[]]]) {
        for name in names(&groups) {
            assert!(!reserved.contains(name), "{name}");
            assert!(
                name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
            );
        }
    }
}

#[test]
fn columns_are_different() {
    for groups in COMMANDS.iter().map(|command| command.columns).chain([[COLUMNS, &[]]]) {
        let names = names(&groups);
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
    }
}
