//! Tables of messages: an enumeration with the text of each of its values.

/// Declares enumerations that `Display` writes. Each value has its meaning, its fields, and one text or several: the first
/// whose condition is true is written. Words in braces are fields, or are given values after `where`.
#[macro_export]
macro_rules! messages {
    ($(
        $(#[$about:meta])+
        $seen:vis enum $name:ident $(<$life:lifetime>)? {$(
            $(#[$doc:meta])+
            $variant:ident $(($($item:ident: $of:ty),+))? $({ $($field:ident: $type:ty),+ })? $(
                $(if $condition:expr)? => $text:literal;
                $(where $($word:pat = $value:expr),+;)?
            )+
        )+}
    )+) => {$(
        $(#[$about])+
        #[allow(missing_docs)] // the fields are named for what they hold; what they mean is the text
        $seen enum $name $(<$life>)? {
            $($(#[$doc])+ $variant $(($($of),+))? $({ $($field: $type),+ })?,)+
        }

        impl $(<$life>)? ::core::fmt::Display for $name $(<$life>)? {
            #[allow(clippy::too_many_lines, unused_variables)] // a text need not show every field
            fn fmt(&self, out: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match *self {
                    $(Self::$variant $(($($item),+))? $({ $($field),+ })? => match () {
                        $(() $(if $condition)? => {
                            $($(let $word = $value;)+)?
                            write!(out, $text)
                        })+
                    },)+
                }
            }
        }
    )+};
}
